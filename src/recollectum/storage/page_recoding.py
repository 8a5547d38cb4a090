"""Rewrites an encrypted database or log under another key, page by page, without opening it as a database.

Unlike a copy by SQLite, this also works for a damaged file, and keeps the rest of it as it is: a page that the old key
does not open stays the same.
"""

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from recollectum.home.files import PRIVATE_FILE, explain, sync_file, sync_folder
from recollectum.storage import encrypted_pages as pages

_WORD = 1 << 32
_STEP = 1024
#: In the head of a log: the salts that its frames repeat, and the checksum of the head.
_SALTS = slice(16, 24)
_SUM = slice(24, 32)
_SALTS_OF_FRAME = slice(8, 16)
_SUM_OF_FRAME = slice(16, 24)
_Sums = tuple[int, int]


def recode_file(path: Path, key: bytes, new_key: bytes, progress: Callable[[int], None] = lambda _: None) -> bool:
    """Replace a file by one under the new key, in one step; return False for a file that the old key does not open."""
    made = path.with_name(f".{path.name}-rekey.unfinished")
    made.unlink(missing_ok=True)
    changed = False
    try:
        with path.open("rb") as source, os.fdopen(_create(made), "wb") as target:
            for piece, is_new in _recoded(source, key, new_key, progress):
                changed = changed or is_new
                target.write(piece)
            target.flush()
            sync_file(target.fileno())
        if changed:
            made.replace(path)
            sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        made.unlink(missing_ok=True)
    return changed


def is_opened_by(path: Path, key: bytes) -> bool:
    """Return whether a key opens the first page of a database, which this process does not have open."""
    with path.open("rb") as source:
        head = source.read(pages.HEAD_BYTES)
        size = pages.encrypted_page_size(head)
        return size is not None and pages.decrypt_page(key, head + source.read(size - len(head)), 1) is not None


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)


def _recoded(
    source: IO[bytes], key: bytes, new_key: bytes, progress: Callable[[int], None]
) -> Iterator[tuple[bytes, bool]]:
    """Yield the pieces of the new file, and whether each is under the new key."""
    head = source.read(pages.HEAD_BYTES)
    if size := pages.log_page_size(head):
        yield head, False
        yield from _recoded_frames(source, head, size, (key, new_key))
    elif size := pages.encrypted_page_size(head):
        source.seek(0)
        number = 0
        while page := source.read(size):
            number += 1
            yield _recoded_page(page, size, number, key, new_key)
            if number % _STEP == 0:
                progress(_STEP)
    else:
        yield head, False
        while rest := source.read(1 << 20):
            yield rest, False


def _recoded_page(page: bytes, size: int, number: int, key: bytes, new_key: bytes) -> tuple[bytes, bool]:
    content = pages.decrypt_page(key, page, number) if len(page) == size and pages.is_written(page) else None
    return (page, False) if content is None else (pages.encrypt_page(new_key, page, content, number), True)


def _recoded_frames(
    source: IO[bytes], head: bytes, size: int, keys: tuple[bytes, bytes]
) -> Iterator[tuple[bytes, bool]]:
    """Yield the frames of a log; the checksum of each goes on from the one before, as far as that was right."""
    words = ">" if head[3] & 1 else "<"
    old: _Sums | None = struct.unpack(">2I", head[_SUM])
    new: _Sums = struct.unpack(">2I", head[_SUM])
    while frame := source.read(pages.FRAME_HEAD_BYTES):
        page = source.read(size)
        made, is_new = _recoded_page(page, size, pages.frame_page(frame.ljust(4, b"\0")), *keys)
        old = old and _checked(old, frame, page, head[_SALTS], words)
        if old:
            new = _summed(new, frame[:8] + made, words)
            frame = frame[: _SUM_OF_FRAME.start] + struct.pack(">2I", *new)
        yield frame + made, is_new


def _checked(sums: _Sums, frame: bytes, page: bytes, salts: bytes, words: str) -> _Sums | None:
    """Return the checksum after a frame; None when the frame is not whole, or of an earlier log."""
    if len(frame) < pages.FRAME_HEAD_BYTES or len(page) % 8 or frame[_SALTS_OF_FRAME] != salts:
        return None
    found = _summed(sums, frame[:8] + page, words)
    return found if struct.pack(">2I", *found) == frame[_SUM_OF_FRAME] else None


def _summed(sums: _Sums, data: bytes, words: str) -> _Sums:
    first, second = sums
    numbers = struct.unpack(f"{words}{len(data) // 4}I", data)
    for even, odd in zip(numbers[::2], numbers[1::2], strict=True):
        first = (first + even + second) % _WORD
        second = (second + odd + first) % _WORD
    return first, second
