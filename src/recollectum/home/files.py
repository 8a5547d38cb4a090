"""Writes files atomically, readable by their owner alone."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from recollectum.domain.errors import DiskFull, HomeError, ReadOnly, RecollectumError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
# Neither flag exists on Windows, where a link cannot be made without a privilege.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def explain(error: OSError, path: Path) -> RecollectumError:
    """The same failure as one sentence that names the path and the cure."""
    if error.errno in _NO_ROOM:
        return DiskFull(f"there is no room left to write {path}; free some space and try again, nothing was changed")
    if error.errno == errno.EROFS:
        return ReadOnly(
            f"{path} is on a read-only file system; make it writable, or choose another home with RECOLLECTUM_HOME"
        )
    if error.errno in _NOT_ALLOWED:
        return ReadOnly(f"{path} may not be written by this account; correct its owner or mode, or choose another home")
    if error.errno == errno.ENOTDIR:
        return HomeError(f"{path} cannot be made, because a part of its path is a file; move that file out of the way")
    return HomeError(f"{path} cannot be written ({error.strerror or type(error).__name__}); look at what is there")


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the file with `data`, so that a reader or a crash sees the old bytes or the new and never a mixture."""
    temporary = path.with_name(f".recollectum-{os.urandom(8).hex()}.tmp")
    try:
        _write_new(temporary, data)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        # After the rename there is nothing under this name; before it, nobody wants it.
        with contextlib.suppress(OSError):
            temporary.unlink()


def _write_new(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY, PRIVATE_FILE)
    try:
        write_all(file, data)
        sync_file(file)
    finally:
        os.close(file)


def write_all(file: int, data: bytes) -> None:
    """Write every byte: on a nearly full disk one `os.write` takes a part and says nothing."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync_file(file: int) -> None:
    """Wait until the bytes are on the medium."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - there is no such module on Windows

        # There, fsync leaves the bytes in the drive's own cache.
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fsync(file)


def sync_folder(path: Path) -> None:
    """Wait until the names in the folder are on the medium."""
    if sys.platform == "win32":
        # A folder cannot be opened there; the rename itself goes through the journal.
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read, or take others' leave away where there is one already.

    SQLite gives `-wal` and `-shm` the mode of the database, so this comes before it opens the file. A file that exists
    is never opened here: closing it again would drop the locks SQLite holds on it in this process.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, PRIVATE_FILE))
    except FileExistsError:
        _tighten(path, stat.S_ISREG, "a file", PRIVATE_FILE)
    except OSError as error:
        raise explain(error, path) from error


def make_private_folder(path: Path) -> None:
    """Make the folder, and what is missing above it, or take others' leave away where there is one already."""
    try:
        path.mkdir(PRIVATE_FOLDER, parents=True)
    except FileExistsError:
        _tighten(path, stat.S_ISDIR, "a folder", PRIVATE_FOLDER)
    except OSError as error:
        raise explain(error, path) from error


def _tighten(path: Path, is_kind: Callable[[int], bool], kind: str, mode: int) -> None:
    try:
        found = path.stat().st_mode
        if not is_kind(found):
            raise HomeError(f"{path} is not {kind}; move what is there out of the way")
        if found & 0o077 and sys.platform != "win32":
            path.chmod(stat.S_IMODE(found) & mode)
    except OSError as error:
        raise explain(error, path) from error
