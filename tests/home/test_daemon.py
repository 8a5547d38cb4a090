"""Finding the daemon of a home: only a process that holds the lock is one, whatever lies in the files."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.domain.errors import LockHeld
from recollectum.home.daemon import Daemon, daemon_lock, find_daemon, find_holder, is_held, remove_daemon, write_daemon
from recollectum.home.paths import Home, prepare

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare(made)
    return made


def this_one() -> Daemon:
    return Daemon("http://127.0.0.1:8377", os.getpid(), "a secret token", NOW)


def test_it_is_found_while_its_process_holds_the_lock_and_not_after(home: Home) -> None:
    assert find_daemon(home) is None
    with daemon_lock(home):
        assert find_daemon(home) is None
        write_daemon(home, this_one())
        assert find_daemon(home) == this_one()
        holder = find_holder(home)
        assert holder
        assert holder.pid == os.getpid()
    assert find_daemon(home) is None
    assert find_holder(home) is None


def test_what_a_killed_one_left_is_not_taken_for_the_next_one(home: Home) -> None:
    write_daemon(home, Daemon("http://127.0.0.1:1", os.getpid() + 1, "old", NOW))
    with daemon_lock(home):
        assert find_daemon(home) is None
    remove_daemon(home)
    remove_daemon(home)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"url": 1}', b'{"url": "x", "pid": "1", "token": 2}'])
def test_a_file_that_says_nothing_is_no_daemon(home: Home, content: bytes) -> None:
    write_daemon(home, this_one())
    (home.root / "run" / "daemon.json").write_bytes(content)
    with daemon_lock(home):
        assert find_daemon(home) is None


@pytest.mark.slow
def test_two_who_look_at_once_do_not_take_each_other_for_the_daemon(home: Home) -> None:
    path = home.locks / "daemon.lock"
    with daemon_lock(home):
        assert is_held(path)
        with pytest.raises(LockHeld):
            daemon_lock(home).acquire()
    import fcntl

    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert not is_held(path)


def test_the_token_is_not_printed(home: Home) -> None:
    assert "secret" not in repr(this_one())
    write_daemon(home, this_one())
    assert (home.root / "run" / "daemon.json").stat().st_mode & 0o777 == 0o600
