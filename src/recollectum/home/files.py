"""Writes files atomically, readable by their owner alone."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from recollectum.domain.errors import DiskFull, HomeError, InvalidInput, ReadOnly, RecollectumError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
# Windows has neither flag, and needs a privilege to create links.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
#: The names of files that are being written; one stays only when its process is killed.
TEMPORARY = ".recollectum-*.tmp"


def explain(error: OSError, path: Path) -> RecollectumError:
    """Return the same error as one sentence with the path and the cure."""
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
    return HomeError(f"{path} cannot be written ({error.strerror or type(error).__name__}); check that path")


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the file atomically: a reader or a crash sees the old bytes or the new, never a mixture."""
    temporary = path.with_name(TEMPORARY.replace("*", os.urandom(8).hex()))
    try:
        _write_new(temporary, data)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        # After the rename the temporary name is free; before it, the file is useless.
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
    """Write every byte: on a nearly full disk one `os.write` may write only a part without an error."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync_file(file: int) -> None:
    """Flush the bytes to the disk."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - there is no such module on Windows

        # On macOS, fsync leaves the bytes in the drive's cache.
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fsync(file)


def sync_path(path: Path) -> None:
    """Flush the bytes of a closed file to the disk."""
    file = os.open(path, os.O_RDWR)
    try:
        sync_file(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Flush the names in the folder to the disk."""
    if sys.platform == "win32":
        # Windows cannot open a folder; the rename itself is journaled.
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; refuse a folder, a pipe, a socket or a device without waiting for it."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InvalidInput(f"{path} is not a regular file; name a file with the data in it")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InvalidInput(f"{path} has more than {most} bytes, which is too much to read at once; split it")
    return data


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, or restrict an existing one.

    SQLite gives `-wal` and `-shm` the mode of the database, so this runs before SQLite opens the file. An existing file
    is never opened here: closing it would drop the locks that SQLite holds on it in this process.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, PRIVATE_FILE))
    except FileExistsError:
        _tighten(path, stat.S_ISREG, "a file", PRIVATE_FILE)
    except OSError as error:
        raise explain(error, path) from error


def make_private_folder(path: Path) -> None:
    """Create the folder with missing parents, private to this account, or restrict an existing one."""
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
