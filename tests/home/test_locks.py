"""Locks between real processes: dead holders, hung holders, and no lost update."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import LockHeld
from recollectum.home.locks import Lock, LockHolder, decode_holder, start_time

pytestmark = pytest.mark.process

HOLD = """
import sys
from pathlib import Path
from recollectum.home.locks import Lock
with Lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
print("released", flush=True)
sys.stdin.readline()
"""

COUNT = """
import sys, time
from datetime import timedelta
from pathlib import Path
from recollectum.home.locks import Lock
lock, number, me = Lock(Path(sys.argv[1]), timeout=timedelta(seconds=60)), Path(sys.argv[2]), int(sys.argv[3])
for turn in range(100):
    with lock:
        seen = int(number.read_text())
        if turn % 25 == me:
            time.sleep(0.1)
        number.write_text(str(seen + 1))
"""

SHORT = timedelta(milliseconds=50)
NOW = datetime(2030, 1, 1, tzinfo=UTC)

needs_proc = pytest.mark.skipif(
    start_time(os.getpid()) is None, reason="this system does not say when a process started"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "write.lock"


@contextmanager
def holder_of(path: Path, *arguments: str) -> Generator[subprocess.Popen[str]]:
    """A process that holds the lock."""
    command = [sys.executable, "-c", HOLD, str(path), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def said_to_a_waiter(path: Path, after: timedelta = timedelta()) -> str:
    with pytest.raises(LockHeld) as raised:
        Lock(path, timeout=SHORT, clock=lambda: datetime.now(UTC) + after).acquire()
    return str(raised.value)


def test_a_lock_is_held_released_and_its_file_stays(path: Path) -> None:
    with Lock(path):
        found = decode_holder(path.read_bytes())
        assert found is not None
        assert found.pid == os.getpid()
    assert path.read_bytes() == b""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Lock(path, timeout=timedelta()):
        pass


def test_releasing_what_is_not_held_does_nothing(path: Path) -> None:
    Lock(path).release()
    assert not path.exists()


def test_a_lock_is_not_re_entrant(path: Path) -> None:
    with Lock(path) as lock:
        lock.timeout = SHORT
        with pytest.raises(LockHeld, match=f"process {os.getpid()} "):
            lock.acquire()
    assert Lock(path).wait(timedelta())


def test_threads_exclude_each_other_even_on_one_lock_object(path: Path) -> None:
    lock = Lock(path)
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for turn in range(20):
            with lock:
                inside.append(turn)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (80, 1)


@pytest.mark.feature("G9")
def test_a_killed_holder_frees_the_lock_at_once(path: Path) -> None:
    with holder_of(path) as process:
        assert not Lock(path).wait(timedelta())
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Lock(path, timeout=timedelta()):
            pass


@pytest.mark.feature("G9")
@needs_proc
def test_a_waiter_is_told_who_holds_the_lock_and_for_how_long(path: Path) -> None:
    with holder_of(path) as process:
        said = said_to_a_waiter(path, timedelta(seconds=12))
        assert said == (
            f"{path} has been held by process {process.pid} (-c) for 12 s; wait for it to finish and try again"
        )


@pytest.mark.feature("G9")
@needs_proc
def test_a_hung_holder_is_named_and_not_overrun(path: Path) -> None:
    with holder_of(path) as process:
        process.send_signal(signal.SIGSTOP)
        said = said_to_a_waiter(path, timedelta(seconds=31))
        assert "for 31 s and looks hung" in said
        assert f"ending process {process.pid} frees it" in said
        assert not Lock(path).wait(SHORT)
        process.send_signal(signal.SIGCONT)
        assert process.communicate("\n\n")[0] == "released\n"


@needs_proc
def test_a_process_that_only_has_the_number_of_the_holder_is_not_named(path: Path) -> None:
    with holder_of(path) as held, holder_of(path.with_name("other")) as innocent:
        started = start_time(innocent.pid)
        assert started is not None
        path.write_bytes(LockHolder(innocent.pid, started - 1, NOW, "x").encode())
        assert "held by another process" in said_to_a_waiter(path)
        assert (held.poll(), innocent.poll()) == (None, None)


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b"{}", b'{"pid": -1, "started": 1, "command": "", "acquired": "x"}']
)
def test_a_lock_file_that_says_nothing_sensible_names_nobody(path: Path, note: bytes) -> None:
    with holder_of(path):
        path.write_bytes(note)
        assert said_to_a_waiter(path) == f"{path} is held by another process; wait for it to finish and try again"


class DeletedOnce(Lock):
    """A lock whose file somebody deletes, against the rule, just when it has been opened."""

    deleted = False

    def _open(self) -> int:
        file = super()._open()
        if not self.deleted:
            self.deleted = True
            self.path.unlink()
        return file


def test_a_lock_on_a_file_that_is_gone_is_not_taken_for_the_lock(path: Path) -> None:
    with DeletedOnce(path) as lock:
        assert lock.deleted
        assert not Lock(path).wait(timedelta())


@pytest.mark.feature("G9")
def test_four_processes_lose_no_update_even_when_a_holder_pauses(path: Path, tmp_path: Path) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(path), str(number), str(me)], stderr=subprocess.PIPE, text=True
        )
        for me in range(4)
    ]
    said = [worker.communicate()[1] for worker in workers]
    assert said == [""] * 4
    assert number.read_text() == "400"


def test_the_note_keeps_what_a_person_said_out(path: Path) -> None:
    with holder_of(path, "my-secret-diagnosis"):
        assert b"my-secret" not in path.read_bytes()


def test_a_holder_is_read_back_as_written() -> None:
    for started in (None, 12345):
        holder = LockHolder(42, started, NOW, 'odd ") name')
        assert decode_holder(holder.encode()) == holder
