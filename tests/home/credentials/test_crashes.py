"""A process that dies anywhere leaves the old secret or the new one, and two processes do not undo each other."""

import signal
import subprocess
import threading
import time

import pytest

from recollectum.domain.access.credential import ServiceApiKey
from recollectum.domain.errors import RecollectumError
from recollectum.home.paths import Home
from tests.crashes.programs import hear, kill, start, tell
from tests.home.credentials.stores import CANARY, files_with, open_store, token

pytestmark = pytest.mark.process

PROGRAM = "tests.home.credentials.programs"
KILLS = 4


def dies_at(step: int, what: str, home: Home, *more: str) -> bool:
    """Run a program that ends itself at a step; False when it had done its work before that."""
    child = start(PROGRAM, what, str(home.root), str(step), *more)
    said, _ = child.communicate(timeout=60)
    assert child.returncode in (0, -signal.SIGKILL)
    assert (said == "done\n") == (child.returncode == 0)
    return child.returncode != 0


@pytest.mark.feature("C6")
def test_a_kill_before_any_call_to_the_disk_leaves_the_old_secret_or_the_new(home: Home) -> None:
    open_store(home).save("X", ServiceApiKey("old"))
    open_store(home).save("Y", ServiceApiKey("other"))
    seen: list[str | None] = []
    step = 1
    while dies_at(step, "set", home):
        store = open_store(home)
        seen.append(store.secret("X"))
        assert store.secret("Y") == "other"
        # Also what was being written is private and sealed.
        assert files_with(home.root, CANARY) == []
        assert not [path for path in home.root.rglob("*") if path.stat().st_mode & 0o077]
        store.save("X", ServiceApiKey("old"))
        step += 1
    assert {"old", CANARY} == set(seen)
    assert open_store(home).secret("X") == CANARY


def test_kills_at_any_moment_lose_nothing_that_was_acknowledged(home: Home) -> None:
    for round_ in range(KILLS):
        child = start(PROGRAM, "write", str(home.root))
        assert hear(child) == "ready"
        tell(child, "go")
        last = int(hear(child))
        # Somewhere within a write, each round elsewhere; nothing is asserted about the time itself.
        time.sleep(0.003 * round_)
        last = int(([str(last), *kill(child)])[-1])
        kept = open_store(home).secret("X")
        assert kept in (f"value-{last}", f"value-{last + 1}")


def test_two_processes_that_write_do_not_undo_each_other(home: Home) -> None:
    child = start(PROGRAM, "write", str(home.root))
    assert hear(child) == "ready"
    tell(child, "go")
    hear(child)
    store = open_store(home)
    for number in range(20):
        store.save(f"mine-{number}", ServiceApiKey(f"mine-{number}"))
    kill(child)
    assert [store.secret(f"mine-{number}") for number in range(20)] == [f"mine-{number}" for number in range(20)]
    assert store.secret("X") is not None


def test_threads_that_write_and_read_do_not_undo_each_other(home: Home) -> None:
    store = open_store(home)
    failed: list[RecollectumError] = []

    def work(mine: int) -> None:
        try:
            for number in range(5):
                store.save(f"{mine}-{number}", ServiceApiKey(f"{mine}-{number}"))
                store.all()
        except RecollectumError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(store.all()) == 20


@pytest.mark.feature("C7")
def test_processes_that_need_a_token_at_once_ask_the_server_once(home: Home) -> None:
    open_store(home).save("mail", token("stale"))
    children: list[subprocess.Popen[str]] = [start(PROGRAM, "refresh", str(home.root)) for _ in range(3)]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    assert [hear(child) for child in children] == ["fresh"] * 3
    for child in children:
        child.communicate(timeout=60)
    assert (home.root / "asked").read_text() == "stale\n"
