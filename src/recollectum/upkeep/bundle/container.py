"""Writes and reads the files of a bundle: in a folder, in a zip file, or in a zip file that is encrypted."""

import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol, cast

from recollectum.domain.errors import Damaged, InvalidInput, KeyProblem, NotFound
from recollectum.home.files import explain, make_private_folder
from recollectum.upkeep.bundle.encrypted_file import DecryptingReader, EncryptingWriter, is_encrypted
from recollectum.upkeep.bundle.manifest import NAME, BundledFile

ZIP = ".zip"
#: The same date in every bundle, so that equal contents are equal bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_PERMISSIONS = 0o600 << 16


class BundleWriter(Protocol):
    """A place for the files of a bundle."""

    def add(self, path: str, parts: Iterable[bytes]) -> BundledFile:
        """Write one file from its parts, and return its size and digest."""
        ...


class BundleReader(Protocol):
    """The files of a bundle."""

    def open(self, path: str) -> BinaryIO:
        """Open one file; raise when it is missing."""
        ...


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def add(self, path: str, parts: Iterable[bytes]) -> BundledFile:
        """Write a file of the folder."""
        target = self._root / path
        make_private_folder(target.parent)
        with target.open("xb") as file:
            return _written(file, path, parts)

    def open(self, path: str) -> BinaryIO:
        """Open a file of the folder, and no link out of it."""
        target = self._root / _safe(path)
        if not target.resolve().is_relative_to(self._root.resolve()) or not target.is_file():
            raise Damaged(f"{path} is missing from the bundle; use another copy of it")
        return target.open("rb")


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, path: str, parts: Iterable[bytes]) -> BundledFile:
        """Write an entry of the archive."""
        entry = zipfile.ZipInfo(path, _DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = _PERMISSIONS
        with self._archive.open(entry, "w", force_zip64=True) as file:
            return _written(cast("BinaryIO", file), path, parts)

    def open(self, path: str) -> BinaryIO:
        """Open an entry of the archive."""
        try:
            return cast("BinaryIO", self._archive.open(path))
        except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
            raise Damaged(f"{path} is missing from the bundle; use another copy of it") from None


@contextmanager
def new_bundle(to: Path, passphrase: str | None) -> Generator[BundleWriter]:
    """Write a bundle at a place that is free; nothing is left there when the block raises."""
    if to.exists():
        raise InvalidInput(f"{to} exists already; name another place, an export never overwrites anything")
    if passphrase is not None and to.suffix == "":
        raise InvalidInput(f"{to} would be a folder, which cannot be encrypted; name a file that ends in {ZIP}")
    work = to.with_name(f".{to.name}.unfinished")
    _clear(work)
    try:
        make_private_folder(to.parent)
        if to.suffix == "":
            make_private_folder(work)
            yield _Folder(work)
        else:
            with work.open("xb") as file:
                work.chmod(0o600)
                with _archive(file, passphrase) as archive:
                    yield _Zip(archive)
        work.rename(to)
    except OSError as error:
        raise explain(error, to) from error
    finally:
        _clear(work)


@contextmanager
def open_bundle(path: Path, passphrase: Callable[[], str | None]) -> Generator[BundleReader]:
    """Read a bundle; `passphrase` is asked for when the file is encrypted."""
    if not path.exists():
        raise NotFound(f"there is no bundle at {path}; name the folder or the file that `recollectum export` made")
    if path.is_dir():
        yield _Folder(path)
        return
    with _source(path, passphrase) as source:
        try:
            with zipfile.ZipFile(source) as archive:
                yield _Zip(archive)
        except zipfile.BadZipFile:
            raise Damaged(f"{path} cannot be read as a bundle; use another copy of it") from None


def is_bundle(path: Path) -> bool:
    """Return whether a path looks like a bundle: a folder or an archive with a manifest, or an encrypted one."""
    if path.is_dir():
        return (path / NAME).is_file() and (path / "README.md").is_file() and (path / "vaults").is_dir()
    if not path.is_file():
        return False
    if is_encrypted(path):
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return NAME in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def lines_in(reader: BundleReader, listed: BundledFile) -> Iterator[str]:
    """Yield the lines of a file, and raise at its end when it is not what the manifest says."""
    digest = hashlib.sha256()
    size = 0
    with reader.open(listed.path) as file:
        try:
            # No line is longer than the file may be.
            while line := file.readline(listed.bytes + 1):
                digest.update(line)
                size += len(line)
                if size > listed.bytes:
                    break
                yield line.decode()
        except (UnicodeDecodeError, zipfile.BadZipFile, OSError):
            raise Damaged(f"{listed.path} of the bundle cannot be read; use another copy of it") from None
    if size != listed.bytes or digest.hexdigest() != listed.sha256:
        raise Damaged(f"{listed.path} of the bundle is not what was exported; use another copy of it")


@contextmanager
def _archive(file: BinaryIO, passphrase: str | None) -> Generator[zipfile.ZipFile]:
    if passphrase is None:
        with zipfile.ZipFile(file, "w") as archive:
            yield archive
        return
    hidden = EncryptingWriter(file, passphrase)
    with zipfile.ZipFile(cast("BinaryIO", hidden), "w") as archive:
        yield archive
    hidden.finish()


@contextmanager
def _source(path: Path, passphrase: Callable[[], str | None]) -> Generator[BinaryIO]:
    if not is_encrypted(path):
        with path.open("rb") as file:
            yield file
        return
    given = passphrase()
    if given is None:
        raise KeyProblem(f"{path} is encrypted; give its passphrase")
    with DecryptingReader(path, given) as raw:
        yield cast("BinaryIO", io.BufferedReader(raw))


def _written(file: BinaryIO, path: str, parts: Iterable[bytes]) -> BundledFile:
    digest = hashlib.sha256()
    size = 0
    for part in parts:
        file.write(part)
        digest.update(part)
        size += len(part)
    return BundledFile(path=path, bytes=size, sha256=digest.hexdigest())


def _safe(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path or ":" in path:
        raise Damaged(f"the bundle names {path!r:.80}, which is outside of it; use another copy of it")
    return path


def _clear(work: Path) -> None:
    if work.is_dir():
        shutil.rmtree(work, ignore_errors=True)
    else:
        work.unlink(missing_ok=True)
