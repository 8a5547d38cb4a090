"""One file, member of an archive, or database of a known form, which can be read from its beginning again."""

import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.compressed import MAGIC, open_compressed
from recollectum.storage.foreign.database import ForeignDatabase
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress
from recollectum.vault.files.text_files import UnreadableFile
from recollectum.vault.files.transcript_files import open_regular_file

Opening: TypeAlias = Callable[[], AbstractContextManager[BinaryIO]]
StreamReader: TypeAlias = Callable[[BinaryIO, Progress], Iterator[ForeignItem]]
DatabaseReader: TypeAlias = Callable[[ForeignDatabase, Progress], Iterator[ForeignItem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource:
    """A file, or a member of an archive, that is read as bytes."""

    path: Path
    name: str
    opening: Opening
    reading: StreamReader
    size: int = 0
    moves_to: Path | None = None
    #: Other files of the same archive, which are not imported.
    others: int = 0

    def items(self, progress: Progress) -> Generator[ForeignItem]:
        """Yield everything in it; what cannot be read any further is reported, unless all of it is one import."""
        if self.others:
            yield OmittedPart("other archive file", self.others)
        try:
            with self.opening() as file:
                yield from self.reading(file, progress)
        except InvalidInput as error:
            if self.moves_to is not None:
                raise InvalidInput(f"{self.path} {_as_reason(error)}; nothing was imported") from None
            yield DamagedPart("the rest of the file", str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSource:
    """A SQLite database."""

    path: Path
    name: str
    reading: DatabaseReader
    size: int = 0
    moves_to: Path | None = None

    def items(self, progress: Progress) -> Generator[ForeignItem]:
        """Yield everything in it; what cannot be read any further is reported."""
        told = 0
        try:
            with ForeignDatabase(self.path) as database:

                def advance(_: int) -> None:
                    nonlocal told
                    read = min(database.bytes_read, self.size)
                    progress(read - told)
                    told = read

                yield from self.reading(database, advance)
        except InvalidInput as error:
            yield DamagedPart("the rest of the database", str(error))
        # Free pages, indexes and tables of no interest.
        progress(self.size - told)


def _as_reason(error: InvalidInput) -> str:
    return f"cannot be imported: {error}"


def open_file(path: Path) -> Opening:
    """Return what opens a file; one that is compressed is decompressed."""

    @contextmanager
    def opening() -> Generator[BinaryIO]:
        try:
            with open_regular_file(path) as file:
                if cast("BufferedReader", file).peek(len(MAGIC))[: len(MAGIC)] == MAGIC:
                    with open_compressed(file) as plain:
                        yield plain
                else:
                    yield file
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read ({error.strerror or type(error).__name__})") from None
        except UnreadableFile as error:
            raise InvalidInput(f"{path} {error}") from None

    return opening


def open_member(path: Path, member: str) -> Opening:
    """Return what opens a member of a zip archive."""

    @contextmanager
    def opening() -> Generator[BinaryIO]:
        with archive_errors(path), zipfile.ZipFile(path) as archive, archive.open(member) as file:
            yield BufferedReader(cast("BufferedReader", file))

    return opening


@contextmanager
def archive_errors(path: Path) -> Generator[None]:
    """Raise what goes wrong in an archive as one sentence."""
    try:
        yield
    # An encrypted member is a RuntimeError, an unknown method a NotImplementedError.
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, KeyError, ValueError):
        raise InvalidInput(f"{path} cannot be read as a zip archive: it is damaged or encrypted") from None
