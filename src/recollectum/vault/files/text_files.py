"""Reads and decodes a regular file without following links, or says why it cannot be read."""

import os
import stat
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

#: File name endings of notes.
SUFFIXES = (".md", ".markdown", ".txt", ".org", ".rst")
_HASH_BYTES = 32
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Where the system has no such flag, links were recognised before.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# The longer byte order mark first: it begins with the shorter one.
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: Control characters that no text contains in a single-byte encoding.
_BINARY_BYTES = bytes({*range(32)} - {*b"\t\n\r\f\x1b"})


class UnreadableFile(Exception):
    """Raised when a file is not read into the vault; the message says why and follows the file's name."""


def read_bytes(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """Return content and state of a regular file of at most `most` bytes; do not follow links."""
    handle = os.open(path, _FLAGS)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise UnreadableFile("is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            # The file may have grown since its size was read.
            data = file.read(most + 1)
    finally:
        os.close(handle)
    if len(data) > most:
        raise UnreadableFile(too_large_reason(max(state.st_size, len(data)), most))
    return data, state


def too_large_reason(size: int, most: int) -> str:
    """Return the reason for not reading a file of that size."""
    return f"is {size / 1024:.0f} KiB, and notes of more than {most // 1024} KiB are not read (notes.max_kib)"


def decode(data: bytes) -> str:
    """Decode a file: by its byte order mark, else as UTF-8, else with one byte per character."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_strictly(data, encoding)
    if b"\0" in data:
        raise UnreadableFile("is not text")
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    if data.translate(None, _BINARY_BYTES) != data:
        raise UnreadableFile("is not text")
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        # Every byte is a valid character there, so that old notes can at least be found by their ASCII words.
        return data.decode("latin-1")


def _decode_strictly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise UnreadableFile(f"claims to be {encoding.removesuffix('-sig').upper()} and is not") from None
    if "\0" in text:
        raise UnreadableFile("is not text")
    return text


def content_digest(data: bytes) -> str:
    """Return the digest by which a content is recognised."""
    return blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def modification_time(state: os.stat_result) -> datetime:
    """Return when a file was last written; 1970 when the time is out of range."""
    try:
        return _EPOCH + timedelta(microseconds=state.st_mtime_ns // 1000)
    except OverflowError:
        return _EPOCH
