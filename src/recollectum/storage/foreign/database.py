"""Reads the SQLite databases of other programs: read-only, without leaving a file beside them."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import apsw

from recollectum.domain.errors import InvalidInput

#: The first bytes of every SQLite file.
MAGIC = b"SQLite format 3\x00"
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_BUSY_MS = 2000
#: A cell that is longer is an error: no message of a program is.
_MOST_BYTES = 64 * 2**20
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"

Value = str | int | float | bytes | None


class ForeignDatabase:
    """An open database of another program."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: How many bytes of texts and blobs were read; an estimate of how much of the file.
        self.bytes_read = 0
        with _translated(path):
            self._connection = apsw.Connection(_address(path), flags=_FLAGS)
        try:
            with _translated(path):
                self._protect()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "ForeignDatabase":
        """Return the database; it is closed at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the database."""
        self._connection.close()

    def tables(self) -> dict[str, frozenset[str]]:
        """Return the columns of every table; views and virtual tables are left out."""
        with _translated(self._path):
            names = [str(row[0]) for row in self._connection.execute(_TABLES)]
            return {name: self._columns(name) for name in names}

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Mapping[str, Value] | None = None,
        order: Sequence[str] = (),
        starts: tuple[str, str] | None = None,
    ) -> Iterator[tuple[Value, ...]]:
        """Yield the rows of a table one at a time; `starts` is a column and the text that it begins with."""
        tests = [f"{_named(name)} IS :w{place}" for place, name in enumerate(where or ())]
        values: dict[str, Value] = {f"w{place}": value for place, value in enumerate((where or {}).values())}
        if starts:
            tests.append(f"substr({_named(starts[0])}, 1, {len(starts[1])}) = :starts")
            values["starts"] = starts[1]
        sql = f"SELECT {', '.join(map(_named, columns))} FROM {_named(table)}"  # noqa: S608 - the names are quoted
        sql += f" WHERE {' AND '.join(tests)}" if tests else ""
        sql += f" ORDER BY {', '.join(map(_named, order))}" if order else ""
        with _translated(self._path):
            for row in self._connection.execute(sql, values):
                self.bytes_read += sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
                yield tuple(row)

    def _columns(self, table: str) -> frozenset[str]:
        found = self._connection.execute("SELECT name FROM pragma_table_info(:name)", {"name": table})
        return frozenset(str(row[0]) for row in found)

    def _protect(self) -> None:
        """Trust nothing that the file defines: its functions, triggers and views may be hostile."""
        self._connection.set_busy_timeout(_BUSY_MS)
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        self._connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        self._connection.execute("PRAGMA query_only = ON")


class _translated:
    """Raises the errors of SQLite as one sentence about the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Translate what was raised."""
        if isinstance(error, apsw.BusyError):
            raise InvalidInput(f"{self._path} is locked by its program; end that program and try again") from None
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise InvalidInput(
                f"{self._path} cannot be read as a SQLite database: it is damaged or encrypted"
            ) from None


def _address(path: Path) -> str:
    """Return the address of the file in a mode that creates no file beside it.

    SQLite creates an index beside a database with a write-ahead log, even for a reader. With no log the file is opened
    as one that nobody changes; with a log and an index, as its program does.
    """
    log, index = (Path(f"{path}{suffix}") for suffix in ("-wal", "-shm"))
    if not _size(log):
        return f"file:{quote(str(path))}?immutable=1"
    if not index.exists():
        raise InvalidInput(
            f"{path} has a log ({log.name}) and no index ({index.name}); open it once with its own program, or copy "
            "all three files"
        )
    return f"file:{quote(str(path))}?mode=ro"


def _size(path: Path) -> int:
    try:
        state = os.lstat(path)
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def _named(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
