"""Decrypts pages of encrypted databases and of their logs, without opening the file as a database.

Opening a copy with SQLite would change it, and would not show free pages or outdated frames of a log. The layout is
that of ChaCha20 in SQLite3 Multiple Ciphers: each page ends in a nonce of 16 bytes and a Poly1305 tag of 16 bytes, and
of the first page the bytes 16 to 23 are not encrypted.
"""

import secrets
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.poly1305 import Poly1305

#: The bytes of a file that tell what it is, and its page size.
HEAD_BYTES = 32
LOG_HEAD_BYTES = 32
FRAME_HEAD_BYTES = 24
_NONCE_BYTES = 16
_RESERVED_BYTES = 32
#: The bytes at the beginning of a file that are not encrypted.
CLEAR_BYTES = 24
_PLAIN_START = b"SQLite format 3\0"
_FRACTIONS = b"\x40\x20\x20"
_LOG_STARTS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_LARGEST_PAGE = 65536
_SMALLEST_PAGE = 512


class PageKeys:
    """The keys that may open a page; the one that opened the last page is tried first."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = list(keys)
        self._order = list(range(len(keys)))

    def open(self, page: bytes, number: int) -> tuple[int, bytes] | None:
        """Return which key opens a page, and its content; None when none does."""
        for rank, which in enumerate(self._order):
            content = decrypt_page(self._keys[which], page, number)
            if content is not None:
                self._order.insert(0, self._order.pop(rank))
                return which, content
        return None


def decrypt_page(key: bytes, page: bytes, number: int) -> bytes | None:
    """Return the content of a page, or None when the key does not open it or the page was changed."""
    end = len(page) - _RESERVED_BYTES
    nonce = page[end : end + _NONCE_BYTES]
    counter = int.from_bytes(nonce[12:], "little") ^ number
    once = _stream(key, counter, nonce).update(bytes(64))
    try:
        Poly1305.verify_tag(once[:32], page[: end + _NONCE_BYTES], page[end + _NONCE_BYTES :])
    except InvalidSignature:
        return None
    start = CLEAR_BYTES if number == 1 else 0
    return _stream(once[32:], counter + 1, nonce).update(page[start:end])


def encrypt_page(key: bytes, page: bytes, content: bytes, number: int) -> bytes:
    """Return a page with this content under another key; what is not encrypted in the page stays."""
    start = CLEAR_BYTES if number == 1 else 0
    nonce = secrets.token_bytes(_NONCE_BYTES)
    counter = int.from_bytes(nonce[12:], "little") ^ number
    once = _stream(key, counter, nonce).update(bytes(64))
    sealed = page[:start] + _stream(once[32:], counter + 1, nonce).update(content) + nonce
    return sealed + Poly1305.generate_tag(once[:32], sealed)


def is_plain_database(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is an unencrypted database."""
    return head.startswith(_PLAIN_START)


def encrypted_page_size(head: bytes) -> int | None:
    """Return the page size of an encrypted database that begins with these bytes; None for any other file."""
    if len(head) < HEAD_BYTES or is_plain_database(head) or head[21:24] != _FRACTIONS:
        return None
    size = int.from_bytes(head[16:18], "big")
    return _checked_size(_LARGEST_PAGE if size == 1 else size)


def log_page_size(head: bytes) -> int | None:
    """Return the page size of a write-ahead log that begins with these bytes; None for any other file."""
    if len(head) < LOG_HEAD_BYTES or not head.startswith(_LOG_STARTS):
        return None
    return _checked_size(int.from_bytes(head[8:12], "big"))


def may_be_changing(path: Path) -> bool:
    """Return whether a database or its log may be in use: it then has an index of its log beside it."""
    return path.name.endswith("-wal") or path.with_name(f"{path.name}-shm").exists()


def is_written(page: bytes) -> bool:
    """Return whether a page was ever written; a page of zeros was not."""
    return page.count(0) != len(page)


def frame_page(head: bytes) -> int:
    """Return the page number in the head of a log's frame."""
    return int.from_bytes(head[:4], "big")


def _checked_size(size: int) -> int | None:
    return size if _SMALLEST_PAGE <= size <= _LARGEST_PAGE and size & (size - 1) == 0 else None


def _stream(key: bytes, counter: int, nonce: bytes) -> CipherContext:
    start = (counter & 0xFFFFFFFF).to_bytes(4, "little") + nonce[:12]
    return Cipher(ChaCha20(key, start), mode=None).encryptor()
