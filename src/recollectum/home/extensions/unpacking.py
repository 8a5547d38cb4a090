"""Copies the files of an extension from a folder or an archive into a staging folder, and refuses what is unsafe.

Only plain files and folders are taken. What an archive says about its sizes is checked while it is read, so that a
bomb ends at the limit.
"""

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn, cast

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.home.compressed import MAGIC, open_compressed
from recollectum.home.extensions.entry_names import EntryNames
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, open_regular, sync_file, sync_folder

MAX_FILES = 5_000
MAX_BYTES = 64 * 2**20
#: How many times larger than the archive its content may be; small content is never a bomb.
MAX_RATIO = 200
_NEVER_A_BOMB = 2**20
#: A tar file has blocks of headers beside the content.
_HEADERS = 4096
_BLOCK = 1 << 16
_PRIVATE_PROGRAM = 0o700
#: What version control keeps beside the files.
_LEFT_OUT = frozenset({".git", ".hg", ".svn"})
_END_OF_ZIP = b"PK\x05\x06"
_END_BYTES = 22
_DAMAGED = (
    gzip.BadGzipFile,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    RecursionError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
)


class _Entry(NamedTuple):
    name: str
    is_folder: bool
    #: Whether its owner may run it.
    runs: bool
    file: BinaryIO | None


def unpack(source: Path, staging: Path) -> None:
    """Copy every file of a folder or archive into an empty folder, durably; raise at the first unsafe thing."""
    try:
        if source.is_dir():
            _write(_of_folder(source), staging, MAX_BYTES)
            return
        if not source.exists():
            raise NotFound(f"there is no folder or archive at {source}; name one that has an extension in it")
        with _opened(source) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                raise InvalidInput(f"{source} has {size:,} bytes; an extension may have at most {MAX_BYTES:,}")
            most = min(MAX_BYTES, max(_NEVER_A_BOMB, size * MAX_RATIO))
            _write_archive(source, file, staging, most)
    except OSError as error:
        raise explain(error, staging) from error


def _write_archive(source: Path, file: BinaryIO, staging: Path, most: int) -> None:
    try:
        _write(_of_archive(source, file, most), staging, most)
    except _DAMAGED:
        raise InvalidInput(f"{source} is damaged or cut short; get another copy of it") from None


def _of_archive(source: Path, file: BinaryIO, most: int) -> Iterator[_Entry]:
    """Yield the entries of an archive, by what its first bytes say it is."""
    head = file.read(4)
    file.seek(0)
    if head.startswith(b"PK"):
        yield from _of_zip(file)
    elif head.startswith(b"\x1f\x8b"):
        yield from _of_tar(cast("BinaryIO", gzip.GzipFile(fileobj=file)), most)
    elif head == MAGIC:
        yield from _of_tar(open_compressed(file), most)
    else:
        raise InvalidInput(f"{source} is no zip, tar.gz or tar.zst file; name a folder, or such an archive")


def _of_folder(root: Path) -> Iterator[_Entry]:
    """Yield the files below a folder, without following links."""
    for parent, folders, files in os.walk(root, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in (*folders, *sorted(files)):
            path = Path(parent, name)
            seen = path.lstat()
            mode = seen.st_mode
            inside = path.relative_to(root).as_posix()
            if stat.S_ISDIR(mode):
                yield _Entry(inside, True, False, None)
            elif stat.S_ISREG(mode):
                with _opened(path) as file:
                    if not os.path.samestat(seen, os.fstat(file.fileno())):
                        raise _refused(inside, "was replaced while it was read")
                    yield _Entry(inside, False, bool(mode & stat.S_IXUSR), file)
            else:
                raise _refused(inside, "is a link or a special file")


def _opened(path: Path) -> BufferedReader:
    try:
        return open_regular(path)
    except OSError as error:
        _unreadable(error)


def _unreadable(error: OSError) -> NoReturn:
    raise InvalidInput(f"{error.filename} cannot be read ({error.strerror}); correct its owner or mode") from None


def _of_tar(stream: BinaryIO, most: int) -> Iterator[_Entry]:
    limited = cast("BinaryIO", _Limited(stream, most + MAX_FILES * _HEADERS))
    with closing(stream), tarfile.open(fileobj=limited, mode="r|", errors="strict") as archive:
        for member in archive:
            if member.isdir():
                yield _Entry(member.name, True, False, None)
            elif member.isreg() and not member.issparse():
                file = cast("BinaryIO | None", archive.extractfile(member))
                yield _Entry(member.name, False, bool(member.mode & stat.S_IXUSR), file)
            else:
                raise _refused(member.name, "is a link, a device or a file with holes")


def _of_zip(file: BinaryIO) -> Iterator[_Entry]:
    _check_end_of_zip(file)
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if "\0" in info.orig_filename or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refused(info.orig_filename, "is a link or a special file, or its name holds NUL")
            if info.flag_bits & 0x41 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _refused(info.filename, "is encrypted, or compressed by another method than deflate")
            if info.is_dir():
                yield _Entry(info.filename, True, False, None)
                continue
            with archive.open(info) as inner:
                yield _Entry(info.filename, False, bool(mode & stat.S_IXUSR), cast("BinaryIO", inner))


def _check_end_of_zip(file: BinaryIO) -> None:
    """Refuse a list of files that is too long, before a library reads all of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - 65535 - 20))
    tail = file.read()
    at = tail.rfind(_END_OF_ZIP)
    # A later end record inside the comment would be the one that the library takes, and so it is here.
    if at < 0 or len(tail) - at < _END_BYTES:
        raise zipfile.BadZipFile
    if tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        raise InvalidInput("the archive is in the zip64 form, which is for larger ones; pack it again without it")
    count, length = struct.unpack("<HL", tail[at + 10 : at + 16])
    if count > MAX_FILES or length > MAX_FILES * 512:
        raise InvalidInput(f"the archive lists more than {MAX_FILES:,} files; an extension may have at most so many")
    file.seek(0)


def _write(entries: Iterator[_Entry], staging: Path, most: int) -> None:
    names, left, count = EntryNames(), most, 0
    folders = {staging}
    for entry in entries:
        count += 1
        if count > MAX_FILES:
            raise InvalidInput(f"the extension has more than {MAX_FILES:,} files and folders; leave some out")
        # A tar file of a whole folder begins with it.
        name = entry.name.removeprefix("./")
        if entry.is_folder and name in ("", "."):
            continue
        path = staging.joinpath(*names.take(name, is_folder=entry.is_folder))
        folder = path if entry.is_folder else path.parent
        make_private_folder(folder)
        folders.update(one for one in (folder, *folder.parents) if one.is_relative_to(staging))
        if entry.file is not None:
            left -= _copy(entry.file, path, left, runs=entry.runs)
    for folder in sorted(folders, reverse=True):
        sync_folder(folder)


def _copy(file: BinaryIO, path: Path, most: int, *, runs: bool) -> int:
    """Copy one file, and return its size."""
    size = 0
    mode = _PRIVATE_PROGRAM if runs else PRIVATE_FILE
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as target:
        while block := file.read(_BLOCK):
            size += len(block)
            if size > most:
                raise too_large()
            target.write(block)
        target.flush()
        sync_file(target.fileno())
    return size


def too_large() -> InvalidInput:
    """Return the refusal of content that is too large, by itself or for its archive."""
    return InvalidInput(
        f"the extension unpacks to more than {MAX_BYTES:,} bytes, or to {MAX_RATIO} times its archive, as bombs do; "
        "nothing was installed, leave some files out"
    )


def _refused(name: str, why: str) -> InvalidInput:
    return InvalidInput(f"the file {ascii(name)[:120]} {why}; nothing was installed, put a plain file in its place")


class _Limited(io.RawIOBase):
    """A stream that ends with a refusal after so many bytes."""

    def __init__(self, inner: BinaryIO, most: int) -> None:
        super().__init__()
        self._inner = inner
        self._left = most

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        found = self._inner.read(size if 0 <= size <= _BLOCK else _BLOCK)
        self._left -= len(found)
        if self._left < 0:
            raise too_large()
        return found
