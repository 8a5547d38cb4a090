"""Reads the content of a file: decrypted pages of databases, members of archives, and the bytes themselves.

What cannot be read is reported with its reason, because a search that skips it proves nothing.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from pathlib import PurePosixPath
from typing import IO, NamedTuple, cast

from recollectum.domain.records import dataclass
from recollectum.storage import encrypted_pages as pages
from recollectum.vault.purge.matching import Matcher

_PIECE = 1 << 22
_HEAD = 1 << 16
_DEEPEST = 4
#: The most bytes that one file may unpack to, and that an archive inside another may have.
MOST_UNPACKED = 4 << 30
_MOST_INNER = 256 << 20
_TAR_PLACE, _TAR = 257, b"ustar"
#: Ciphertext is uniform: 256 values that are equally frequent have about 255, and 400 is six deviations away.
_UNIFORM = 400
_FEW_BYTES = 1024
_BROKEN = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,
    NotImplementedError,
)
_PACKED: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream)),
    b"BZh": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
    b"\xfd7zXZ\0": lambda stream: cast("IO[bytes]", lzma.LZMAFile(stream)),  # noqa: SIM115 - the stream is read to its end
}
_UNREADABLE = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive cannot be unpacked here",
    b"Rar!\x1a\x07": "a RAR archive cannot be unpacked here",
    b"\x04\x22\x4d\x18": "an LZ4 file cannot be unpacked here",
    b"%PDF-": "the text of a PDF cannot be read here",
    b"Salted__": "it is encrypted",
    b"age-encryption.org": "it is encrypted",
    b"-----BEGIN PGP MESSAGE": "it is encrypted",
}
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
_ZIP = b"PK\x03\x04"


class SearchKeys(NamedTuple):
    """The keys of a home; `foreign` are the places of those whose data is another owner's."""

    keys: pages.PageKeys
    foreign: frozenset[int]


@dataclass(slots=True)
class FileFindings:
    """What reading one file found."""

    #: The places of the samples that were found.
    found: set[int] = field(default_factory=set[int])
    #: What could not be read: the name, and why.
    unread: dict[str, str] = field(default_factory=dict[str, str])


class FileReader:
    """Reads one file to its last byte, with all that is packed or encrypted in it."""

    def __init__(self, matcher: Matcher, keys: SearchKeys, others: Collection[str]) -> None:
        self._matcher = matcher
        self._keys = keys
        #: The file names of other owners' databases, which may hold the same words.
        self._others = others
        self._left = MOST_UNPACKED
        self.findings = FileFindings()

    def read(self, name: str, file: IO[bytes], depth: int = 0) -> None:
        """Search a stream and everything in it."""
        stream = _SearchedStream(file, self._matcher, self.findings.found, self._spend if depth else None)
        try:
            self._read_inside(name, stream, depth)
            stream.drain()
        except _TooLarge:
            self.findings.unread[name] = f"it unpacks to more than {MOST_UNPACKED >> 30} GiB"
        except _BROKEN as error:
            self.findings.unread[name] = _reason(error)
            # The bytes that could not be unpacked are searched as they are.
            stream.drain_rest()

    def _read_inside(self, name: str, stream: "_SearchedStream", depth: int) -> None:
        """Read what a stream holds apart from its plain bytes."""
        head = stream.peek(_HEAD)
        if size := pages.encrypted_page_size(head):
            self._read_pages(name, stream, size)
        elif size := pages.log_page_size(head):
            self._read_frames(name, stream, size)
        elif why := _reason_not_to_read(head):
            self.findings.unread[name] = why
        elif reads := self._archive_reader(head):
            if depth < _DEEPEST:
                reads(name, stream, depth + 1)
            else:
                self.findings.unread[name] = f"archives are nested more than {_DEEPEST} deep"
        elif not pages.is_plain_database(head) and not head.startswith(_PICTURES):
            stream.drain()
            if any(_is_uniform(sample) for sample in stream.samples()):
                self.findings.unread[name] = "it is encrypted, or packed in an unknown form"

    def _archive_reader(self, head: bytes) -> "Callable[[str, _SearchedStream, int], None] | None":
        """Return what reads an archive that begins with these bytes; None for any other file."""
        packed = next((opener for start, opener in _PACKED.items() if head.startswith(start)), None)
        if packed:
            return lambda name, stream, depth: self.read(f"{name}!", packed(cast("IO[bytes]", stream)), depth)
        if head[_TAR_PLACE:].startswith(_TAR):
            return self._read_tar
        if head.startswith(_ZIP):
            return self._read_zip
        return self._read_zstandard if head.startswith(_ZSTANDARD) else None

    def _read_pages(self, name: str, stream: "_SearchedStream", size: int) -> None:
        batch = _Batch(self._matcher, self.findings.found)
        number = 0
        while page := stream.read(size):
            number += 1
            if pages.is_written(page):
                self._open_page(page if len(page) == size else b"", number, batch)
        self._note_bad(name, batch)

    def _read_frames(self, name: str, stream: "_SearchedStream", size: int) -> None:
        """Search every frame of a log, also outdated ones; frames that are not encrypted were searched as bytes."""
        batch = _Batch(self._matcher, self.findings.found)
        uniform = 0
        stream.read(pages.LOG_HEAD_BYTES)
        while frame := stream.read(pages.FRAME_HEAD_BYTES + size):
            page = frame[pages.FRAME_HEAD_BYTES :]
            if len(page) == size and pages.is_written(page):
                good = self._open_page(page, pages.frame_page(frame), batch)
                uniform += not good and _is_uniform(page)
        # A log without encryption has vectors, which look like ciphertext, on some of its pages at most.
        if batch.opened or 2 * uniform > batch.bad:
            self._note_bad(name, batch)

    def _open_page(self, page: bytes, number: int, batch: "_Batch") -> bool:
        found = self._keys.keys.open(page, number) if page else None
        if found is None:
            batch.bad += 1
            return False
        which, content = found
        batch.opened += 1
        if which not in self._keys.foreign:
            batch.add(content)
        return True

    def _note_bad(self, name: str, batch: "_Batch") -> None:
        batch.search()
        if not batch.opened:
            self.findings.unread[name] = "no key of this home opens it"
        elif batch.bad and batch.is_own:
            # Damage in the database of another owner hides nothing that was erased here.
            self.findings.unread[name] = f"{batch.bad} of its {batch.bad + batch.opened} pages are damaged"

    def _read_tar(self, name: str, stream: "_SearchedStream", depth: int) -> None:
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is not None and not self._is_foreign(member.name):
                    self.read(f"{name}!{member.name}", file, depth)

    def _read_zip(self, name: str, stream: "_SearchedStream", depth: int) -> None:
        data = stream.read(_MOST_INNER + 1)
        if len(data) > _MOST_INNER:
            self.findings.unread[name] = f"a ZIP archive of more than {_MOST_INNER >> 20} MiB is not unpacked"
            return
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                # A member without a name is searched like the others; `is_dir` fails at it.
                if member.filename.endswith("/") or self._is_foreign(member.filename):
                    continue
                inner = f"{name}!{member.filename}"
                try:
                    with archive.open(member) as file:
                        self.read(inner, file, depth)
                except _BROKEN as error:
                    self.findings.unread[inner] = _reason(error)

    def _read_zstandard(self, name: str, stream: "_SearchedStream", depth: int) -> None:
        try:
            # From Python 3.14 on.
            from compression import zstd  # noqa: PLC0415  # pyright: ignore
        except ImportError:
            self.findings.unread[name] = "a Zstandard file cannot be unpacked by this version of Python"
            return
        self.read(f"{name}!", cast("IO[bytes]", zstd.ZstdFile(cast("IO[bytes]", stream))), depth)  # pyright: ignore

    def _is_foreign(self, member: str) -> bool:
        return PurePosixPath(member).name in self._others

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _TooLarge


class _TooLarge(Exception):
    """An archive unpacks to more than is searched."""


class _Batch:
    """Pages of one file that are searched together, because a search of each would take longer."""

    def __init__(self, matcher: Matcher, found: set[int]) -> None:
        self._matcher = matcher
        self._found = found
        self._pages: list[bytes] = []
        self._size = 0
        #: Pages that a key opened, and pages that none did.
        self.opened = 0
        self.bad = 0
        #: Whether a page was opened that is not another owner's.
        self.is_own = False

    def add(self, page: bytes) -> None:
        self.is_own = True
        self._pages.append(page)
        self._size += len(page)
        if self._size >= _PIECE:
            self.search()

    def search(self) -> None:
        self._matcher.find(b"".join(self._pages), self._found)
        self._pages.clear()
        self._size = 0


class _SearchedStream:
    """A stream whose bytes are searched while something else reads them."""

    def __init__(self, file: IO[bytes], matcher: Matcher, found: set[int], spend: Callable[[int], None] | None) -> None:
        self._file = file
        self._matcher = matcher
        self._found = found
        self._spend = spend
        self._ahead: bytes = b""
        self._place = 0
        self._kept = bytearray()
        self._samples: list[bytes] = []

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes: `size` of them, fewer only at the end."""
        parts: list[bytes] = []
        wanted = size
        while wanted:
            if self._place == len(self._ahead):
                self._ahead, self._place = self._next(), 0
            end = len(self._ahead) if wanted < 0 else self._place + wanted
            part = self._ahead[self._place : end]
            if not part:
                break
            self._place += len(part)
            wanted -= len(part) if wanted > 0 else 0
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def peek(self, size: int) -> bytes:
        """Return the next bytes, and leave them to be read."""
        while len(self._ahead) < size and (piece := self._next()):
            self._ahead += piece
        return self._ahead[:size]

    def drain(self) -> None:
        """Search what nobody read, to the end."""
        self._ahead, self._place = b"", 0
        while self._next():
            pass
        self._search()

    def drain_rest(self) -> None:
        """Search what can still be read of a stream that failed."""
        try:
            self.drain()
        except (*_BROKEN, _TooLarge):
            self._search()

    def samples(self) -> Iterable[bytes]:
        """Return the first and the last bytes, to tell what kind of content it is."""
        return self._samples

    def _next(self) -> bytes:
        piece = self._file.read(_PIECE)
        if not piece:
            return b""
        if self._spend:
            self._spend(len(piece))
        if len(piece) >= _FEW_BYTES:
            self._samples = [*self._samples[:1], piece[-_HEAD:]]
        self._kept += piece
        if len(self._kept) >= _PIECE:
            self._search()
        return piece

    def _search(self) -> None:
        whole = bytes(self._kept)
        self._matcher.find(whole, self._found)
        self._kept = bytearray(whole[-self._matcher.overlap :] if self._matcher.overlap else b"")


def _reason_not_to_read(head: bytes) -> str | None:
    return next((why for start, why in _UNREADABLE.items() if head.startswith(start)), None)


def _is_uniform(sample: bytes) -> bool:
    """Return whether all values of a byte are equally frequent, as in ciphertext."""
    if len(sample) < _FEW_BYTES:
        return False
    mean = len(sample) / 256
    counts = Counter(sample)
    return sum((counts[value] - mean) ** 2 for value in range(256)) / mean < _UNIFORM


def _reason(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return "this account may not read it"
    if isinstance(error, RuntimeError) and "password" in str(error):
        return "it is encrypted"
    return "it is damaged, or packed in a form that is not known here"
