"""Finds transcript files and reads their whole lines, and declares the port that parses these lines."""

import os
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Protocol

from recollectum.domain.files.transcript import TranscriptFile
from recollectum.domain.message import Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.text.cleaning import clean
from recollectum.vault.files.text_files import UnreadableFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLines:
    """What a batch of lines contains."""

    #: None until a line names the conversation.
    session: Session | None
    messages: tuple[Message, ...] = ()
    #: Lines that could not be parsed, numbered from 1 within the batch, each with the reason.
    damage: tuple[tuple[int, str], ...] = ()
    #: How many images and files the lines hold, which are not kept.
    attachments: int = 0


class TranscriptReader(Protocol):
    """Parses every supported transcript format."""

    def recognise(self, lines: Sequence[bytes]) -> str | None:
        """Return the format of a file by its first lines; None when it is unknown."""
        ...

    def is_whole(self, form: str) -> bool:
        """Return whether a later line may change an earlier one, so that the file is always read from its start."""
        ...

    def read(self, form: str, lines: Sequence[bytes], known: Session | None) -> ParsedLines:
        """Parse the lines; `known` is the session that earlier lines of the file began."""
        ...


SUFFIX = ".jsonl"
#: How much is read and stored in one transaction.
BATCH_BYTES = 1 << 18
#: A longer line is skipped.
MAX_LINE = 16 * 2**20
#: A larger file is not read when its format must be read from the start each time.
MAX_WHOLE = 64 * 2**20
_DIGESTED = 4096
# Where the system has no such flag, links were recognised before.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Some whole lines, and the offset after the last one; a line that is too long is None."""

    lines: tuple[bytes | None, ...]
    end: int


def find_transcripts(root: Path, deadline: float | None = None) -> list[Path] | None:
    """Return the transcripts at a path, sorted; None when the deadline came first. Skip links and hidden files."""
    if not root.is_dir():
        return [root]
    found: list[Path] = []
    for folder, folders, names in os.walk(root):
        if deadline is not None and time.monotonic() > deadline:
            return None
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            path
            for name in sorted(names)
            if name.endswith(SUFFIX) and not name.startswith(".") and not (path := Path(folder, name)).is_symlink()
        ]
    return found


@contextmanager
def open_regular_file(path: Path) -> Generator[BinaryIO]:
    """Open a regular file for reading; refuse anything else without blocking on it."""
    if clean(str(path)) != str(path):
        raise UnreadableFile("has a name that is not UTF-8")
    handle = os.open(path, _FLAGS)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableFile("is not a regular file")
        yield file


def with_file_state(file: TranscriptFile, state: os.stat_result) -> TranscriptFile:
    """Return the file with its current state."""
    identity = f"{state.st_dev}:{state.st_ino}"
    return replace(file, identity=identity, size=state.st_size, mtime=state.st_mtime_ns)


def is_continued(file: BinaryIO, known: TranscriptFile, size: int) -> bool:
    """Return whether the file still begins with the bytes that were read before."""
    if size < known.read_to:
        return False
    head, tail = position_digests(file, known.read_to)
    return (head, tail) == (known.head, known.tail)


def position_digests(file: BinaryIO, read_to: int) -> tuple[str, str]:
    """Return digests of the first and the last bytes before an offset."""
    length = min(_DIGESTED, read_to)
    return _digest(file, 0, length), _digest(file, read_to - length, length)


def _digest(file: BinaryIO, start: int, length: int) -> str:
    file.seek(start)
    return blake2b(file.read(length), digest_size=16).hexdigest()


def read_next_lines(file: BinaryIO, start: int) -> LineBatch | None:
    """Return the whole lines after an offset; None when the next line is still incomplete."""
    file.seek(start)
    data = file.read(BATCH_BYTES)
    end = data.rfind(b"\n") + 1
    if end:
        return LineBatch(split_lines(data[:end]), start + end)
    return _read_long_line(file, start, data) if len(data) == BATCH_BYTES else None


def read_all_lines(file: BinaryIO, size: int) -> LineBatch | None:
    """Return all whole lines of the file."""
    if size > MAX_WHOLE:
        raise UnreadableFile(f"is {size // 2**20} MiB, and a log of more than {MAX_WHOLE // 2**20} MiB is not read")
    file.seek(0)
    data = file.read(MAX_WHOLE)
    end = data.rfind(b"\n") + 1
    return LineBatch(split_lines(data[:end]), end) if end else None


def split_lines(data: bytes) -> tuple[bytes, ...]:
    """Split bytes into lines; only a newline ends a line, whatever other separators the text contains."""
    return tuple(data.split(b"\n")[:-1])


def _read_long_line(file: BinaryIO, start: int, data: bytes) -> LineBatch | None:
    """Read one line that is longer than a batch."""
    kept, length = [data], len(data)
    while piece := file.read(BATCH_BYTES):
        cut = piece.find(b"\n") + 1
        length += cut or len(piece)
        if length <= MAX_LINE:
            kept.append(piece[:cut] if cut else piece)
        if cut:
            line = b"".join(kept)[:-1] if length <= MAX_LINE else None
            return LineBatch((line,), start + length)
    return None
