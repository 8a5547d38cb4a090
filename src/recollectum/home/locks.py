"""Locks between processes by the kernel, and names the holder of a lock."""

import contextlib
import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from recollectum.domain.errors import HomeError, LockHeld, RecollectumError
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.records import dataclass
from recollectum.home.files import PRIVATE_FILE, explain, write_all

_STATE, _STARTED = 0, 19
_DEAD = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that took a lock, and when."""

    pid: int
    #: The kernel's start time of the process, which distinguishes reused process ids; None where unknown.
    started: int | None
    acquired: datetime
    #: The name of the program. Its arguments are left out, because they can contain a person's text.
    command: str

    def encode(self) -> bytes:
        """Return one line of JSON."""
        fields = {"pid": self.pid, "started": self.started, "command": self.command}
        return json.dumps({**fields, "acquired": self.acquired.isoformat()}).encode() + b"\n"

    def lives(self) -> bool:
        """Return whether the same process that wrote this is running."""
        return self.started is not None and start_time(self.pid) == self.started


def this_process(now: datetime) -> LockHolder:
    """Return the calling process as a holder from now on."""
    command = Path(sys.argv[0]).name if sys.argv else ""
    return LockHolder(os.getpid(), start_time(os.getpid()), now, command or "python")


def decode_holder(data: bytes) -> LockHolder | None:
    """Return the holder that a lock file names; None when it is empty or incomplete."""
    try:
        found: object = json.loads(data)
        if not isinstance(found, dict):
            return None
        fields = cast("Mapping[str, object]", found)
        pid, started, command = fields["pid"], fields["started"], fields["command"]
        acquired = datetime.fromisoformat(str(fields["acquired"]))
    except (ValueError, KeyError):
        return None
    if not isinstance(pid, int) or pid <= 0 or not isinstance(started, int | None) or acquired.tzinfo is None:
        return None
    return LockHolder(pid, started, acquired, str(command))


def start_time(pid: int) -> int | None:
    """Return when the process started, in kernel ticks; None when it is dead or the system does not say."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name is in parentheses and may contain any character, so search from the last one.
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE] in _DEAD else int(fields[_STARTED])


TIMEOUT = timedelta(seconds=10)
#: A holder older than this is reported as possibly hung. Its lock is never broken for that.
HUNG = timedelta(seconds=30)
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05
_HELD_BY_OTHER = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class Lock:
    """A lock that is exclusive between processes and threads. It is not re-entrant."""

    def __init__(
        self,
        path: Path,
        *,
        timeout: timedelta = TIMEOUT,
        clock: Clock = system_clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = path
        self.timeout = timeout
        self._clock = clock
        self._sleep = sleep
        self._file: int | None = None

    def acquire(self) -> None:
        """Wait for the lock up to the timeout, then raise an error that names its holder."""
        if not self.wait(self.timeout):
            raise LockHeld(self._sentence())

    def wait(self, longest: timedelta) -> bool:
        """Try until the lock is acquired or the timeout has passed."""
        give_up = time.monotonic() + longest.total_seconds()
        pause = _FIRST_PAUSE
        while not self._try():
            left = give_up - time.monotonic()
            if left <= 0:
                return False
            self._sleep(min(pause, left))
            pause = min(pause * 2, _LONGEST_PAUSE)
        return True

    def release(self) -> None:
        """Release the lock; do nothing when it is not held."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(file, 0)
        _unlock(file)
        os.close(file)

    def holder(self) -> LockHolder | None:
        """Return the process that holds the lock, if it is known to be alive."""
        try:
            found = decode_holder(self.path.read_bytes())
        except OSError:
            return None
        return found if found and (found.lives() or found.started is None) else None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _try(self) -> bool:
        file = self._open()
        try:
            had = _try_lock(file, self.path) and self._same_file(file)
        except BaseException:
            os.close(file)
            raise
        if not had:
            os.close(file)
            return False
        self._file = file
        # The record is only for people. On a full disk it cannot be written, but the lock is still acquired.
        with contextlib.suppress(OSError):
            os.ftruncate(file, 0)
            write_all(file, this_process(self._clock()).encode())
        return True

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.open(self.path, flags, PRIVATE_FILE)
        except OSError as error:
            raise explain(error, self.path) from error

    def _same_file(self, file: int) -> bool:
        """Return whether the path still names the locked file: somebody may have deleted it against the rules."""
        try:
            return os.path.samestat(os.fstat(file), self.path.stat())
        except FileNotFoundError:
            return False

    def _sentence(self) -> str:
        holder = self.holder()
        if holder is None:
            return f"{self.path} is held by another process; wait for it to finish and try again"
        age = max(timedelta(), self._clock() - holder.acquired)
        who = f"process {holder.pid} ({holder.command})"
        held = f"{self.path} has been held by {who} for {age.total_seconds():.0f} s"
        if age > HUNG:
            return f"{held} and looks hung; ending process {holder.pid} frees it at once"
        return f"{held}; wait for it to finish and try again"


@contextlib.contextmanager
def repeating(work: Callable[[], object], pause: timedelta) -> Generator[None]:
    """Renew a lease in another thread until the block ends: repeat `work` after each pause."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.wait(pause.total_seconds()):
            # The lease still holds; the next renewal may succeed.
            with contextlib.suppress(RecollectumError, OSError):
                work()

    thread = threading.Thread(target=repeat, name="recollectum-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


if sys.platform == "win32":
    import msvcrt

    # Windows cannot read locked bytes, so the locked byte lies after the written ones.
    _LOCKED_BYTE = 1 << 20

    def _try_lock(file: int, path: Path) -> bool:
        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _HELD_BY_OTHER:
                return False
            raise explain(error, path) from error
        os.lseek(file, 0, os.SEEK_SET)
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(file: int, path: Path) -> bool:
        try:
            # Not lockf: that lock is dropped when any code here opens and closes the same file.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD_BY_OTHER:
                return False
            if error.errno in _NO_LOCKS_HERE:
                raise HomeError(f"the file system of {path} has no locks; put the home on a local disk") from error
            raise explain(error, path) from error
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
