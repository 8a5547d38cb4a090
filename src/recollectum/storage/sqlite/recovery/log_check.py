"""Notices a damaged write-ahead log when a database is opened, and keeps a copy of the log.

SQLite reads a log up to the first frame whose checksum is wrong, and takes the rest for the torn tail of a crash. When
a frame in the middle was damaged, or the log was cut, the committed transactions behind it would vanish without a word.
Two things tell the difference. The index of the log (`-shm`) says how many frames were committed: SQLite writes it
after the sync of a commit, so it never promises too much. And where there is no index, a torn tail contains the end of
one transaction at most, because the next one begins only after the sync of the one before.
"""

import io
import struct
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, cast

import apsw

from recollectum.domain.errors import Damaged
from recollectum.domain.ids import Clock
from recollectum.home.files import sync_folder
from recollectum.home.paths import Home
from recollectum.storage.sqlite.connection import LOG_INDEX, read_log_index
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.storage.sqlite.files import DAMAGED_LOG, evidence_folder, log_of, state_of

#: Twice the header of the index, then how many frames are in the database already.
_INDEX_BYTES = 100
_HALF = 48
_INDEX_FIELDS = struct.Struct("=3I2BHI3I8s8s")
_INDEX_VERSION = 3007000
_LOG_HEADER = 32
_SALTS = slice(16, 24)
_SUMMED = 24
_FRAME_HEADER = 24
_FRAME_FIELDS = struct.Struct(">II8s")
_WORD = 1 << 32
#: The most commits in the torn tail of a crash.
_MOST_TORN = 1
#: How long a log that seems damaged is left alone before it is examined again.
_PAUSE_SECONDS = 0.05


_State = tuple[int, int]


class _LogIndex(NamedTuple):
    """What the index of a log says."""

    frames: int
    #: How many frames are in the database as well.
    moved: int
    salts: bytes


def open_database(home: Home, clock: Clock, path: Path, opening: Callable[[], SqliteDatabase]) -> SqliteDatabase:
    """Open a database; raise `Damaged` once when its log was damaged, after copying the log into the backups.

    Opening it again goes on with what is left.
    """
    if not log_of(path).exists() and not path.with_name(path.name + LOG_INDEX).exists():
        # It was closed as it should be.
        return opening()
    # Before the index: what another process then moves from the log into the database changes it.
    state = _state(path)
    index = read_log_index(path, _INDEX_BYTES)
    if index is None:
        # Others have it open and vouch for its log, which they may move into the database at any moment.
        return opening()
    database = opening()
    try:
        lost = _lost_frames(path, state, _read_index(index), lambda: database.on_connection(_readable_frames))
        if not lost:
            return database
        folder = _keep_log(home, path, clock())
    except BaseException:
        database.close()
        raise
    database.close()
    raise Damaged(
        f"the write-ahead log of {path} was damaged or cut: {lost} of its pages that were committed cannot be read, "
        f"and the changes in them are missing. The log is kept in {folder}. Opening it again continues without these "
        "changes; to get them back, restore a backup"
    )


def _read_index(data: bytes) -> _LogIndex | None:
    """Return what the index of a log says; None when it is not whole."""
    # SQLite writes it twice, and a reader trusts it when both are equal.
    if len(data) < _INDEX_BYTES or data[:_HALF] != data[_HALF : 2 * _HALF]:
        return None
    version, _, _, ready, _, _, frames, _, _, _, salts, _ = _INDEX_FIELDS.unpack_from(data)
    if version != _INDEX_VERSION or not ready:
        return None
    return _LogIndex(frames, int.from_bytes(data[2 * _HALF :], sys.byteorder), salts)


def _readable_frames(connection: apsw.Connection) -> int:
    """Return how many frames of the log SQLite reads; it has none when the database keeps no log."""
    frames = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchall()[0][1]
    return max(0, cast(int, frames))


def _lost_frames(path: Path, state: _State, before: _LogIndex | None, count_readable: Callable[[], int]) -> int:
    """Return how many committed frames SQLite cannot read after it has opened the log."""
    if before is None:
        return _lost_without_index(path, count_readable)
    readable = count_readable()
    if before.moved >= before.frames or readable >= before.frames:
        # All are in the database, or all can be read.
        return 0
    if readable == 0 and _state(path) != state:
        # Another process has emptied the log or begun it anew, after it wrote the frames into the database.
        return 0
    header = _read_header(path)
    same_log = header[_SALTS] == before.salts or (readable == 0 and not _is_header(header))
    return before.frames - readable if same_log else 0


def _lost_without_index(path: Path, count_readable: Callable[[], int]) -> int:
    """Return how many committed frames are behind the readable ones, when no other process is writing them now."""
    found: tuple[object, ...] = ()
    while True:
        readable = count_readable()
        lost = _frames_behind(path, readable)
        seen = readable, lost, _state(path), _state(log_of(path))
        if not lost or seen == found:
            return lost
        # What others commit and move into the database meanwhile is not lost: look until nothing changes.
        found = seen
        time.sleep(_PAUSE_SECONDS)


def _frames_behind(path: Path, readable: int) -> int:
    """Return how many frames of this log are behind the last readable one, when they are no torn tail."""
    header = _read_header(path)
    if not _is_header(header):
        return 0
    behind = commits = 0
    step = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
    try:
        with log_of(path).open("rb") as file:
            file.seek(_LOG_HEADER + readable * step)
            while len(frame := file.read(_FRAME_FIELDS.size)) == _FRAME_FIELDS.size:
                _, size, salts = _FRAME_FIELDS.unpack(frame)
                if salts == header[_SALTS]:
                    behind += 1
                    commits += size > 0
                file.seek(step - _FRAME_FIELDS.size, io.SEEK_CUR)
    except OSError:
        return 0
    return behind if commits > _MOST_TORN else 0


def _read_header(path: Path) -> bytes:
    try:
        # SQLite locks the database and the index, never the log, so this closes nothing that is locked.
        with log_of(path).open("rb") as file:
            return file.read(_LOG_HEADER)
    except OSError:
        return b""


def _is_header(header: bytes) -> bool:
    """Return whether a header is whole, by its checksum."""
    if len(header) < _LOG_HEADER:
        return False
    words = struct.unpack(">6I" if header[3] & 1 else "<6I", header[:_SUMMED])
    first = second = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) % _WORD
        second = (second + odd + first) % _WORD
    return struct.unpack(">2I", header[_SUMMED:]) == (first, second)


def _state(path: Path) -> _State:
    found = state_of(path)
    return (found.st_mtime_ns, found.st_size) if found else (0, 0)


def _keep_log(home: Home, path: Path, now: datetime) -> Path:
    """Copy the log into a folder of the backups; return the folder."""
    import shutil  # noqa: PLC0415 - it imports three archive formats, and few logs are damaged

    folder = evidence_folder(home, f"{path.stem}-{DAMAGED_LOG}", now)
    if log_of(path).exists():
        shutil.copyfile(log_of(path), folder / log_of(path).name)
    sync_folder(folder)
    sync_folder(folder.parent)
    return folder
