"""A database or a log is rewritten under another key page by page, damaged or not, where the old key opens it."""

import os
import shutil
from pathlib import Path

import pytest

from recollectum.domain.errors import WrongKey
from recollectum.storage.page_recoding import is_opened_by, recode_file
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.files import log_of

_OLD, _NEW = os.urandom(32), os.urandom(32)
_COUNT = 300


def _made(path: Path, *, page_bytes: int = 2048) -> Path:
    """A database whose last rows are in its log only, as a killed process leaves it."""
    live = path.with_name("live.db")
    connection = connect(live, key=_OLD, page_bytes=page_bytes)
    connection.execute("CREATE TABLE said (words TEXT)")
    connection.executemany("INSERT INTO said VALUES (?)", [(f"in the file {number}",) for number in range(_COUNT)])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for number in range(5):
        connection.execute("INSERT INTO said VALUES (?)", (f"in the log {number}",))
    shutil.copyfile(log_of(live), log_of(path))
    shutil.copyfile(live, path)
    connection.close()
    return path


def _words(path: Path, key: bytes) -> list[str]:
    connection = connect(path, key=key)
    try:
        return [str(words) for (words,) in connection.execute("SELECT words FROM said ORDER BY rowid").fetchall()]
    finally:
        connection.close()


@pytest.mark.parametrize("page_bytes", [2048, 4096, 65536])
def test_a_database_and_its_log_are_read_with_the_new_key_only(tmp_path: Path, page_bytes: int) -> None:
    path = _made(tmp_path / "a.db", page_bytes=page_bytes)
    assert recode_file(path, _OLD, _NEW)
    assert recode_file(log_of(path), _OLD, _NEW)
    assert (is_opened_by(path, _OLD), is_opened_by(path, _NEW)) == (False, True)
    with pytest.raises(WrongKey):
        connect(path, key=_OLD)
    assert _words(path, _NEW) == [
        *(f"in the file {number}" for number in range(_COUNT)),
        *(f"in the log {number}" for number in range(5)),
    ]


def test_a_damaged_frame_ends_the_log_where_it_ended_it_before(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.db")
    raw = bytearray(log_of(path).read_bytes())
    raw[-10] ^= 1
    log_of(path).write_bytes(raw)
    recode_file(path, _OLD, _NEW)
    recode_file(log_of(path), _OLD, _NEW)
    assert _words(path, _NEW)[-1] == "in the log 3"


def test_a_damaged_page_stays_as_it_is_and_the_others_are_rewritten(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.db")
    raw = bytearray(path.read_bytes())
    raw[2 * 2048 + 100] ^= 1
    path.write_bytes(raw)
    assert recode_file(path, _OLD, _NEW)
    made = path.read_bytes()
    assert len(made) == len(raw)
    spoilt = bytes(raw)
    same = [
        number for number in range(len(raw) // 2048) if made[number * 2048 :][:2048] == spoilt[number * 2048 :][:2048]
    ]
    assert same == [2]


def test_a_file_that_the_old_key_does_not_open_is_not_touched(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.db")
    recode_file(path, _OLD, _NEW)
    before, state = path.read_bytes(), path.stat().st_ino
    assert not recode_file(path, _OLD, os.urandom(32))
    assert (path.read_bytes(), path.stat().st_ino) == (before, state)
    other = tmp_path / "notes.txt"
    other.write_bytes(b"no database" * 1000)
    assert not recode_file(other, _OLD, _NEW)
    assert other.read_bytes() == b"no database" * 1000
    assert [one.name for one in tmp_path.iterdir() if "unfinished" in one.name] == []
