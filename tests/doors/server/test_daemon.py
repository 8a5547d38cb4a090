"""The daemon as a process: one for each home, known to others while it lives, and gone without a trace when it ends."""

import ctypes
import json
import os
import signal
import stat
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest

from recollectum.home.daemon import Daemon, find_daemon, find_holder
from recollectum.home.paths import Home
from recollectum.storage.tables.learning.runs import ConsolidationRun
from recollectum.upkeep.rounds.status import list_rounds
from tests.doors.server.daemons import called, daemon, home, home_folder, two_hours_ago, until

pytestmark = [pytest.mark.loopback, pytest.mark.process]
ALICE = "user:alice"


def place() -> Home:
    return Home(home_folder())


def ask(found: Daemon, path: str, body: object = None, *, user: str = "alice") -> object:
    """What the daemon answers to a local program."""
    headers = {"Authorization": f"Bearer {found.token}", "Recollectum-User": user, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(found.url + path, data, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def daemon_of_home() -> Daemon:
    found = find_daemon(place())
    assert found
    return found


def test_it_says_where_it_listens_and_others_find_it_as_long_as_it_lives() -> None:
    home().close()
    assert find_daemon(place()) is None
    with daemon() as running:
        found = daemon_of_home()
        assert (found.url, found.pid) == (running.url, running.process.pid)
        assert found.token not in repr(found)
        file = home_folder() / "run" / "daemon.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        running.process.send_signal(signal.SIGTERM)
        assert running.wait() == 0
        assert not file.exists()
    assert find_daemon(place()) is None
    assert find_holder(place()) is None


@pytest.mark.feature("G9")
def test_a_second_one_is_told_who_is_there_in_one_sentence() -> None:
    home().close()
    with daemon() as running:
        second = called("serve", "--port", "0")
        assert second.returncode == 1
        assert second.stdout == ""
        assert second.stderr.count("\n") == 1
        assert f"process {running.process.pid} is the daemon of {home_folder()} already" in second.stderr
        assert find_daemon(place())


@pytest.mark.feature("G9")
def test_many_that_start_at_once_are_one() -> None:
    home().close()
    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(_start_and_stop) for _ in range(4)]
        codes = [one.result() for one in started]
    # Each either was the one, until it was stopped, or was refused.
    assert set(codes) <= {0, 1}
    assert 0 in codes
    assert find_holder(place()) is None


def _start_and_stop() -> int:
    try:
        with daemon() as running:
            running.process.send_signal(signal.SIGINT)
            return running.wait()
    except AssertionError:
        return 1


@pytest.mark.feature("G9")
def test_killed_it_leaves_nothing_that_keeps_the_next_one_from_its_place() -> None:
    home().close()
    with daemon() as running:
        running.process.kill()
        running.wait()
    assert (home_folder() / "run" / "daemon.json").exists()
    assert find_daemon(place()) is None
    with daemon() as running:
        assert daemon_of_home().pid == running.process.pid


def test_a_port_that_is_taken_is_said_in_one_sentence() -> None:
    home().close()
    with daemon() as running:
        other = called("serve", "--port", running.url.rpartition(":")[2], environ={"RECOLLECTUM_HOME": _other_home()})
    assert other.returncode == 1
    assert "cannot be listened on" in other.stderr
    assert other.stderr.count("recollectum: ") == 1


def _other_home() -> str:
    folder = home_folder().with_name("other")
    home_with = {**os.environ, "RECOLLECTUM_HOME": str(folder)}
    assert called("init", environ=home_with).returncode == 0
    return str(folder)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_no_write_that_was_acknowledged_is_lost(ending: signal.Signals) -> None:
    with home() as opened:
        opened.vault(ALICE)
    kept: list[str] = []
    with daemon() as running, ThreadPoolExecutor(4) as pool:
        found = daemon_of_home()

        def write(number: int) -> None:
            try:
                ask(found, "/memory/add", {"content": f"acknowledged number {number}"})
            except (OSError, HTTPException, ValueError):
                # Also an answer that was cut in the middle is none.
                return
            kept.append(f"acknowledged number {number}")

        writes = [pool.submit(write, number) for number in range(300)]
        until(lambda: len(kept) >= 40)
        running.process.send_signal(ending)
        for one in writes:
            one.result()
        assert running.wait() == (0 if ending is signal.SIGTERM else -signal.SIGKILL)
    with home() as opened:
        there = {memory.content for memory in opened.vault(ALICE).memories.list(limit=1000)}
    assert set(kept) <= there


def test_without_http_it_only_looks_after_the_vaults() -> None:
    home().close()
    with daemon("--no-http") as running:
        assert running.told["url"] is None
        assert find_daemon(place()) is None
        holder = find_holder(place())
        assert holder
        assert holder.pid == running.process.pid
        stopped = called("daemon", "stop")
        assert stopped.returncode == 0
        assert running.wait() == 0
    again = called("daemon", "stop")
    assert again.returncode == 1
    assert "nothing to stop" in again.stderr


def test_without_http_it_stops_when_another_thread_gets_the_signal() -> None:
    home().close()
    with daemon("--no-http") as running:
        # After a round it has waited for a signal for a while.
        until(_made_a_round)
        own = running.process.pid
        threads = {int(thread.name) for thread in Path(f"/proc/{own}/task").iterdir()} - {own}
        assert threads
        # As the system may do with a signal to the process.
        assert ctypes.CDLL(None).tgkill(own, min(threads), signal.SIGTERM) == 0
        assert running.wait() == 0


def _made_a_round() -> bool:
    with home() as opened:
        return any(one.last_run for one in list_rounds(opened))


def runs() -> list[ConsolidationRun]:
    with home() as opened:
        return opened.vault(ALICE).admin.consolidation.list_runs()


def test_an_idle_conversation_is_read_and_what_was_done_is_known_after_a_restart() -> None:
    with home(clock=two_hours_ago) as opened:
        opened.vault(ALICE).sessions.open(channel="test").add("user", "I drink green tea every morning")
    with daemon() as running:
        until(runs)
        running.process.send_signal(signal.SIGTERM)
        assert running.wait() == 0
    shown = called("daemon", "status", "--json")
    document = json.loads(shown.stdout)
    assert document["running"] is None
    by_name = {one["name"]: one for one in document["rounds"] if one["owner"] == ALICE}
    assert by_name["consolidation"]["last_run"]
    assert by_name["consolidation"]["trouble"] is None
    with daemon() as running:
        status = json.loads(called("daemon", "status", "--json").stdout)
        assert status["running"]["pid"] == running.process.pid
        assert status["running"]["url"] == running.url


def test_killed_in_the_middle_of_any_round_it_leaves_nothing_half() -> None:
    with home(clock=two_hours_ago) as opened:
        for number in range(12):
            chat = opened.vault(ALICE).sessions.open(channel=f"test{number}")
            chat.add("user", f"I drink green tea number {number} every morning")
    for least in (1, 4, 8, 12):
        with daemon("--no-http") as running:
            until(lambda least=least: len(runs()) >= least)
            running.process.kill()
            running.wait()
    with home(settings={"consolidation.lease_seconds": 1}) as opened:
        vault = opened.vault(ALICE)
        made = vault.admin.consolidation.list_runs(limit=100)
        assert len({run.session_id for run in made}) == len(made) == 12
        assert vault.admin.index.verify().sound
        assert all(one.trouble is None for one in list_rounds(opened))


def test_one_round_is_made_by_hand_and_an_unknown_one_refused() -> None:
    with home(clock=two_hours_ago) as opened:
        opened.vault(ALICE).sessions.open(channel="test").add("user", "I drink green tea every morning")
    made = called("daemon", "run", "consolidation", "--json")
    assert made.returncode == 0
    assert json.loads(made.stdout)["result"]["read"] == 1
    assert len(runs()) == 1
    unknown = called("daemon", "run", "laundry")
    assert unknown.returncode == 1
    assert "there is no round 'laundry'; use one of consolidation," in unknown.stderr
