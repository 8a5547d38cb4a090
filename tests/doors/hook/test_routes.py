"""The hook by way of the daemon: the same answers, for programs of this account alone."""

import json
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from recollectum import Recollectum
from recollectum.home.daemon import find_daemon
from tests.doors.cli.calls import ok
from tests.doors.hook.calls import event, patient
from tests.doors.server.daemons import daemon
from tests.vault.transcript_files import append, lines

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.loopback, pytest.mark.process]


def _post(url: str, token: str, said: Mapping[str, object] | None = None) -> int:
    asked = {"user": "ada", "event": said or event("Stop", transcript_path="/etc/passwd")}
    body = json.dumps(asked).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{url}/hook", body, headers), timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_daemon_answers_and_records() -> None:
    with daemon() as running:
        told = patient(event("UserPromptSubmit", prompt="when is the harbour dinner?"))
        assert "twelfth of May" in told.context
        assert patient(event("Stop", last_assistant_message="On the twelfth.")).code == 0
        with Recollectum() as recollectum:
            home = recollectum.home
            vault = recollectum.vault("user:ada")
            give_up = time.monotonic() + 30
            while not (page := vault.sessions.list()) or page[0].message_count < 2:
                assert time.monotonic() < give_up
                time.sleep(0.05)
        # Nobody else was started for it.
        assert not (home.root / "run" / "hook.sock").exists()
        running.process.terminate()


def _recorded() -> list[str]:
    with Recollectum() as recollectum:
        vault = recollectum.vault("user:ada")
        found = [one for session in vault.sessions.list() for one in vault.sessions.chat(session.id).messages()]
        return [one.text for one in found]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_what_was_handed_in_just_before_the_stop_is_recorded(ending: signal.Signals, tmp_path: Path) -> None:
    late = append(tmp_path / "talk.jsonl", lines(range(2)))
    with daemon() as running, Recollectum() as recollectum:
        found = find_daemon(recollectum.home)
        assert found is not None
        # The recorder waits a while for words that are not in the file yet; the other turns stand behind it.
        handed = [
            event("Stop", "late", transcript_path=str(late), last_assistant_message="words that never come"),
            event("UserPromptSubmit", prompt="the last thing that was said"),
            event("Stop", last_assistant_message="the last answer"),
            event("SessionEnd"),
        ]
        for one in handed:
            assert _post(running.url, found.token, one) == 200
        running.process.send_signal(ending)
        assert running.wait() == 0
    assert {"the last thing that was said", "the last answer"} < set(_recorded())


def test_a_name_that_nobody_has_is_refused_and_makes_no_vault() -> None:
    with daemon() as running:
        answer = patient(event("UserPromptSubmit", prompt="when is the harbour dinner?"), "--user", "adda")
        assert (answer.code, answer.context) == (0, "")
        with Recollectum() as recollectum:
            log = recollectum.home.root / "run" / "hook.log"
            give_up = time.monotonic() + 30
            while not log.exists() or "there is no user 'adda'" not in log.read_text():
                assert time.monotonic() < give_up
                time.sleep(0.05)
            assert [str(one) for one in recollectum.list_owners()] == ["user:ada"]
        running.process.terminate()


def test_a_key_is_not_enough_since_an_event_names_a_file() -> None:
    key = ok("keys", "create", "--user", "ada", "--json").json
    secret = next(value for value in _texts(key) if len(value) > 40)
    with daemon() as running, Recollectum() as recollectum:
        found = find_daemon(recollectum.home)
        assert found is not None
        assert _post(running.url, secret) == 401
        assert _post(running.url, "x" * 43) == 401
        assert _post(running.url, found.token) == 200
        running.process.terminate()


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in cast("dict[str, object]", value).values() for text in _texts(one)]
    return [value] if isinstance(value, str) else []
