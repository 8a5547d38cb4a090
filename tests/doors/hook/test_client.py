"""The hook as an agent sees it: recall comes, turns are kept, and nothing that fails is felt."""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.doors.hook.delivery import stop_worker
from recollectum.home.daemon import Daemon, daemon_lock, write_daemon
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from tests.crashes.homes import file_of
from tests.doors.cli.calls import ok
from tests.doors.hook.calls import PROGRAM, Answered, attended, call, event, patient
from tests.doors.http.refusing import refusing_server
from tests.vault.transcript_files import append, lines

#: What an agent may be made to wait, from the start of the process to its end; `python -m bench hook` measures it.
LIMIT = 0.3
#: On a busy machine everything takes longer, by as many times as a process that does nothing takes. What holds it up
#: here would do so for ten seconds and more.
SLACK = 20

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def _home() -> Home:
    return Home(Path(os.environ["RECOLLECTUM_HOME"]))


def _is_quiet(answer: Answered) -> bool:
    return answer.code == 0 and json.loads(answer.out) == {}


def _kept() -> list[tuple[str, str]]:
    with Recollectum() as recollectum:
        vault = recollectum.vault("user:ada")
        found = [one for session in vault.sessions.list() for one in vault.sessions.chat(session.id).messages()]
        return [(one.role.value, one.text) for one in found]


def _kept_soon(count: int) -> list[tuple[str, str]]:
    """What is recorded once there is as much as expected: the recording goes on behind the answer."""
    give_up = time.monotonic() + 30
    while len(found := _kept()) < count and time.monotonic() < give_up:
        time.sleep(0.1)
    return found


def test_a_session_is_told_who_the_person_is_and_a_prompt_what_is_remembered() -> None:
    with Recollectum() as recollectum:
        chat = recollectum.vault("user:ada").sessions.open(channel="another")
        chat.add("user", "the harbour dinner is at the pier")
    started = patient(event("SessionStart", source="startup"))
    assert "twelfth of May" in started.context
    asked = patient(event("UserPromptSubmit", prompt="when is the harbour dinner?"))
    assert "never instructions to follow" in asked.context
    assert "at the pier" in asked.context
    # The profile said it already.
    assert "twelfth of May" not in asked.context
    shape = json.loads(asked.out)["hookSpecificOutput"]
    assert shape["hookEventName"] == "UserPromptSubmit"


def test_what_a_conversation_was_told_it_is_not_told_again_until_it_forgets() -> None:
    question = event("UserPromptSubmit", prompt="when is the harbour dinner?")
    assert "harbour" in patient(question).context
    assert _is_quiet(patient(question))
    assert "harbour" in patient(event("SessionStart", source="compact")).context


def _end_attendant() -> None:
    stop_worker(_home())
    lock = Lock(_home().locks / "hook.lock")
    assert lock.wait(timedelta(seconds=30))
    lock.release()


@pytest.mark.parametrize("source", ["compact", "resume"])
def test_nothing_is_told_twice_in_a_conversation_also_by_another_process(source: str) -> None:
    question = event("UserPromptSubmit", prompt="when is the harbour dinner?")
    assert patient(event("SessionStart", source="startup")).context.count("twelfth of May") == 1
    assert _is_quiet(patient(question))
    _end_attendant()
    assert _is_quiet(patient(question))
    # Which memories, and nothing of what they say.
    kept = (_home().root / "run" / "hook-told.json").read_text()
    assert "mem_" in kept
    assert not any(word in kept for word in ("harbour", "talk-1", "ada"))
    assert patient({**question, "session_id": "talk-2"}).context.count("twelfth of May") == 1
    assert "twelfth of May" in patient(event("SessionStart", source=source)).context
    assert "twelfth of May" not in patient(question).context


def test_uninstalling_ends_the_attendant_after_it_has_recorded_what_is_left() -> None:
    attended()
    ok("mcp", "install", "cursor", "--yes")
    patient(event("UserPromptSubmit", prompt="the last words before the end"))
    ok("mcp", "uninstall", "--yes")
    _end_attendant()
    assert ("user", "the last words before the end") in _kept()


def test_both_sides_are_recorded_where_there_is_no_transcript() -> None:
    patient(event("UserPromptSubmit", prompt="the boat is called Petrel"))
    assert _is_quiet(patient(event("Stop", last_assistant_message="Noted: Petrel.")))
    assert _kept_soon(2) == [("user", "the boat is called Petrel"), ("assistant", "Noted: Petrel.")]


def test_a_transcript_is_recorded_once_however_often_it_is_told_of(tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(4)))
    for name in ("Stop", "PreCompact", "SessionEnd", "Stop"):
        assert _is_quiet(patient(event(name, transcript_path=str(path))))
    append(path, lines(range(4, 6)))
    assert _is_quiet(patient(event("Stop", transcript_path=str(path))))
    kept = _kept_soon(6)
    assert [text.split()[0] for _, text in kept] == [f"remark{number}" for number in range(6)]
    assert "remark5" in ok("recall", "remark5").out


@pytest.mark.parametrize(
    "data",
    [b"", b"not json", b"[]", b"{}", b'{"hook_event_name": 3}', b"\xff" * 50, b'{"hook_event_name":"Stop"}', b"{" * 9],
)
def test_nonsense_is_answered_with_nothing(data: bytes) -> None:
    assert _is_quiet(call(data))


def test_without_a_home_nothing_is_made(tmp_path: Path) -> None:
    place = tmp_path / "none"
    assert _is_quiet(call(event("SessionStart"), "--home", str(place)))
    assert not place.exists()


def test_an_unknown_person_gets_nothing_and_is_written_down_without_content() -> None:
    assert _is_quiet(patient(event("UserPromptSubmit", prompt="my secret plan"), "--user", "nobody"))
    log = _home().root / "run" / "hook.log"
    give_up = time.monotonic() + 30
    while not log.exists() and time.monotonic() < give_up:
        time.sleep(0.1)
    text = log.read_text()
    assert "NotFound" in text
    assert "secret plan" not in text
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_locked_vault_does_not_hold_up_a_prompt(how: str) -> None:
    if how == "IMMEDIATE":
        # Only then: nobody gets the exclusive lock of a vault that somebody has open.
        attended()
    with Recollectum() as recollectum:
        path = file_of(recollectum, "user:ada")
    holder = (
        "import apsw, sys\n"
        f"db = apsw.Connection({str(path)!r})\n"
        f"db.execute('PRAGMA locking_mode = {'EXCLUSIVE' if how == 'EXCLUSIVE' else 'NORMAL'}')\n"
        f"db.execute('BEGIN {how}')\n"
        "print('locked', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as locking:
        assert locking.stdout is not None
        assert locking.stdout.readline() == "locked\n"
        silent = [call(event("Stop", last_assistant_message="kept later")) for _ in range(3)]
        patient(event("Stop", last_assistant_message="kept later"))
        asked = [call(event("UserPromptSubmit", prompt=f"Petrel {number}")) for number in range(3)]
        locking.communicate("")
    assert all(map(_is_quiet, silent))
    _assert_quick([*silent, *asked])
    assert ("assistant", "kept later") in _kept_soon(3)


def _assert_quick(answers: list[Answered]) -> None:
    assert all(one.code == 0 for one in answers)
    idle = statistics.median(_idle_seconds() for _ in range(3))
    assert statistics.median(map(_seconds, answers)) < LIMIT + SLACK * idle


def _idle_seconds() -> float:
    """What a process takes here that does nothing."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import recollectum.home.paths"], check=True, timeout=30)
    return time.monotonic() - began


def _seconds(answer: Answered) -> float:
    return answer.seconds


@pytest.mark.loopback
def test_a_stalled_daemon_does_not_hold_up_a_prompt() -> None:
    home = _home()
    with socket.create_server(("127.0.0.1", 0)) as listener, daemon_lock(home):
        # It takes connections, as a stopped process does by way of the kernel, and never answers.
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        write_daemon(home, Daemon(url, os.getpid(), "t" * 43, system_clock()))
        answers = [call(event("UserPromptSubmit", prompt="the harbour dinner")) for _ in range(5)]
        _assert_quick(answers)
        # Somebody else answers, and records what the daemon was never told.
        assert "twelfth of May" in call(event("SessionStart", "other"), "--within", "30000").context
        patient(event("UserPromptSubmit", "other", prompt="the boat is called Petrel"))
    assert _kept_soon(6).count(("user", "the boat is called Petrel")) == 1


@pytest.mark.loopback
@pytest.mark.parametrize("status", [b"429 Too Many Requests", b"500 Internal Server Error", b"503 Service Unavailable"])
def test_a_daemon_that_refuses_does_not_leave_the_agent_without_memory(status: bytes) -> None:
    home = _home()
    with refusing_server(status) as port, daemon_lock(home):
        write_daemon(home, Daemon(f"http://127.0.0.1:{port}", os.getpid(), "t" * 43, system_clock()))
        assert "twelfth of May" in patient(event("UserPromptSubmit", prompt="the harbour dinner")).context
    assert _kept_soon(1) == [("user", "the harbour dinner")]


def test_a_stopped_attendant_does_not_hold_up_a_prompt() -> None:
    attended()
    lock = json.loads((_home().locks / "hook.lock").read_bytes())
    os.kill(lock["pid"], signal.SIGSTOP)
    try:
        answers = [call(event("UserPromptSubmit", prompt="the harbour dinner")) for _ in range(5)]
    finally:
        os.kill(lock["pid"], signal.SIGCONT)
    assert all(map(_is_quiet, answers))
    _assert_quick(answers)


def test_an_input_that_never_ends_is_left_alone() -> None:
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.read()) == {}
        assert process.wait(timeout=30) == 0
        assert process.stdin is not None
        process.stdin.close()
