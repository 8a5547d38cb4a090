"""Reads and decodes a regular file without following links, or says why it cannot be read."""

import os
import stat
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

#: Names that end like this are notes.
SUFFIXES = (".md", ".markdown")
_HASH_BYTES = 32
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Where the system has no such flag, a link was seen as one before.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# The longer mark first: it begins with the shorter one.
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: Control characters that no text has, in an encoding of one byte to the character.
_BINARY_BYTES = bytes({*range(32)} - {*b"\t\n\r\f\x1b"})


class UnreadableFile(Exception):
    """A file that is not read into the vault, and why, in words that follow its name."""


def read_bytes(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """The content and state of a regular file of at most `most` bytes; links are not followed."""
    handle = os.open(path, _FLAGS)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise UnreadableFile("is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            # It may have grown since it was seen.
            data = file.read(most + 1)
    finally:
        os.close(handle)
    if len(data) > most:
        raise UnreadableFile(too_large_reason(max(state.st_size, len(data)), most))
    return data, state


def too_large_reason(size: int, most: int) -> str:
    """Why a file of that size is not read."""
    return f"is {size / 1024:.0f} KiB, and notes of more than {most // 1024} KiB are not read (notes.max_kib)"


def decode(data: bytes) -> str:
    """The text of a file: by its mark, else as UTF-8, else as one byte to the character."""
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
        # Every byte is a character there, so old notes are at least found by their plain words.
        return data.decode("latin-1")


def _decode_strictly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise UnreadableFile(f"says that it is {encoding.removesuffix('-sig').upper()} and is not") from None
    if "\0" in text:
        raise UnreadableFile("is not text")
    return text


def content_digest(data: bytes) -> str:
    """The name under which a content is known again."""
    return blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def modification_time(state: os.stat_result) -> datetime:
    """When a file was last written; a time that no calendar has is taken as 1970."""
    try:
        return _EPOCH + timedelta(microseconds=state.st_mtime_ns // 1000)
    except OverflowError:
        return _EPOCH
