"""Pages of encrypted databases are read without SQLite, and only with the right key."""

import os
from pathlib import Path

import pytest

from recollectum.storage import encrypted_pages as pages
from recollectum.storage.sqlite.connection import connect

_WORDS = "the words that are on a page"


@pytest.fixture
def key() -> bytes:
    return os.urandom(32)


def _database(path: Path, key: bytes | None) -> tuple[bytes, bytes]:
    """The bytes of a database and of its log, both with the words in them."""
    connection = connect(path, key=key)
    connection.execute("CREATE TABLE said (words TEXT)")
    connection.executemany("INSERT INTO said VALUES (?)", [(f"{_WORDS} {number}",) for number in range(500)])
    log = path.with_name(f"{path.name}-wal").read_bytes()
    connection.close()
    return path.read_bytes(), log


def test_every_page_of_a_database_and_of_its_log_is_decrypted(tmp_path: Path, key: bytes) -> None:
    data, log = _database(tmp_path / "a.db", key)
    page_size = pages.encrypted_page_size(data[: pages.HEAD_BYTES])
    assert page_size
    assert len(data) % page_size == 0
    opened = [
        pages.decrypt_page(key, data[place : place + page_size], 1 + place // page_size)
        for place in range(0, len(data), page_size)
    ]
    assert None not in opened
    assert sum(page.count(_WORDS.encode()) for page in opened if page) >= 500
    assert pages.log_page_size(log[: pages.LOG_HEAD_BYTES]) == page_size
    frames = range(pages.LOG_HEAD_BYTES, len(log), pages.FRAME_HEAD_BYTES + page_size)
    for place in frames:
        head, page = log[place : place + pages.FRAME_HEAD_BYTES], log[place + pages.FRAME_HEAD_BYTES :][:page_size]
        assert pages.decrypt_page(key, page, pages.frame_page(head)) is not None


def test_a_page_opens_with_its_own_key_number_and_bytes_only(tmp_path: Path, key: bytes) -> None:
    data, _ = _database(tmp_path / "a.db", key)
    size = pages.encrypted_page_size(data[: pages.HEAD_BYTES])
    assert size
    page = data[size : 2 * size]
    assert pages.decrypt_page(key, page, 2) is not None
    assert pages.decrypt_page(os.urandom(32), page, 2) is None
    assert pages.decrypt_page(key, page, 3) is None
    for place in (0, size // 2, size - 1):
        assert pages.decrypt_page(key, page[:place] + bytes([page[place] ^ 1]) + page[place + 1 :], 2) is None
    assert pages.PageKeys([os.urandom(32), key]).open(page, 2) == (1, pages.decrypt_page(key, page, 2))
    assert pages.PageKeys([os.urandom(32)]).open(page, 2) is None


def test_other_files_are_no_encrypted_databases(tmp_path: Path) -> None:
    plain, _ = _database(tmp_path / "plain.db", None)
    for head in (plain, b"", b"short", b"a text that goes on for longer than thirty-two bytes", os.urandom(16) * 4):
        assert pages.encrypted_page_size(head[: pages.HEAD_BYTES]) is None
    assert pages.is_plain_database(plain)
