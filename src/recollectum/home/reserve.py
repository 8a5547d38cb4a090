"""Reserves disk space that is released when the disk is full, so that deletion still works."""

import contextlib
import errno
import os
import sys
from pathlib import Path

from recollectum.home.files import PRIVATE_FILE, explain, write_all

#: Enough for a delete in batches: its log, and the file that SQLite needs beside it.
SIZE = 8 * 1024 * 1024

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_SUCH_CALL = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
_STEP = 1024 * 1024
_BLOCK = 512


class Reserve:
    """A file without data that is deleted when the disk is full."""

    def __init__(self, path: Path, size: int = SIZE) -> None:
        self.path = path
        self.size = size

    def ensure(self) -> bool:
        """Reserve the space; False, and no file, when there is not enough."""
        if self.size <= 0 or self._whole():
            return True
        try:
            # No O_EXCL: two processes may fill the same file at once, and both end with a complete one.
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
            try:
                self._fill(file)
            finally:
                os.close(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                self.path.unlink()
            if error.errno in _NO_ROOM:
                return False
            raise explain(error, self.path) from error
        return True

    def release(self) -> bool:
        """Release the space; False when it was not reserved."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise explain(error, self.path) from error
        return True

    def _whole(self) -> bool:
        try:
            return _allocated(self.path.stat()) >= self.size
        except FileNotFoundError:
            return False

    def _fill(self, file: int) -> None:
        _allocate(file, self.size)
        if _allocated(os.fstat(file)) >= self.size:
            return
        # The call is missing, or the file system ignores it. Random bytes, because zeros can be compressed.
        os.lseek(file, 0, os.SEEK_SET)
        for start in range(0, self.size, _STEP):
            write_all(file, os.urandom(min(_STEP, self.size - start)))
        os.fsync(file)


def _allocate(file: int, size: int) -> None:
    if sys.platform == "linux":
        try:
            os.posix_fallocate(file, 0, size)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise


def _allocated(found: os.stat_result) -> int:
    """Return the bytes on disk, which for a sparse file are fewer than its length."""
    blocks: int | None = getattr(found, "st_blocks", None)
    return found.st_size if blocks is None else blocks * _BLOCK
