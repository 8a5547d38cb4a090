"""Copies all rows of a database into another one, whichever engines the two have, and compares them by digest."""

import hashlib
import marshal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollectum.domain.errors import StorageError
from recollectum.storage.engine import Progress
from recollectum.storage.port import Row, Tx, Value
from recollectum.storage.row_lists import ColumnRows

#: Rows per read.
_PAGE = 1024
_PROGRESS_BYTES = 4096
_DIGEST_BYTES = 16
#: The first form of `marshal`: the bytes depend on the values alone. Later ones write a text that is shared once.
_MARSHAL = 0
#: Text columns that store a stand-in for a text (see `StandIns`), after one of these beginnings.
STAND_INS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("proposals", "fingerprint"): ("",),
    ("meta", "name"): ("lines:", "profile:"),
}


class CopiedTable(NamedTuple):
    """A table that both engines have."""

    name: str
    columns: tuple[str, ...]
    #: The primary key; empty if there is none.
    key: tuple[str, ...]
    #: The values of the first column that belong to one engine alone.
    skipped: frozenset[str] = frozenset()


class TableDigest(NamedTuple):
    """How many rows a table has, and the sum of their digests; the order of the rows does not matter."""

    rows: int
    total: int


_NO_ROWS = TableDigest(0, 0)


def filled(tx: Tx, tables: Sequence[CopiedTable]) -> list[CopiedTable]:
    """Return the tables that have rows, in one statement: most tables of a vault are empty."""
    if not tables:
        return []
    asked = ", ".join(f'EXISTS (SELECT 1 FROM "{table.name}")' for table in tables)  # noqa: S608 - names of our own schema
    return [table for table, has_rows in zip(tables, tx.rows(f"SELECT {asked}", {})[0], strict=True) if has_rows]


def clear_rows(target: Tx, tables: Sequence[CopiedTable]) -> None:
    """Delete the rows of all tables; `tables` lists each after those that it refers to."""
    for table in reversed(filled(target, tables)):
        target.run(f'DELETE FROM "{table.name}"', {})  # noqa: S608 - names of our own schema


def copy_rows(
    source: Tx, target: Tx, tables: Sequence[CopiedTable], progress: Progress = lambda _: None
) -> dict[str, TableDigest]:
    """Add the rows of one database to another, whose tables are empty; return the digests of what was read."""
    told = Meter(progress)
    found = dict.fromkeys((table.name for table in tables), _NO_ROWS)
    for table in filled(source, tables):
        digests: list[bytes] = []
        for page in pages_of(source, table):
            stored = _stored(page)
            digests += _digests(stored)
            insert_rows(target, table, page)
            told.add(sum(map(len, stored)))
        found[table.name] = total_of(digests)
    return found


def digest_rows(tx: Tx, tables: Sequence[CopiedTable]) -> dict[str, TableDigest]:
    """Return the digest of each table; equal on two engines when the rows are."""
    found = dict.fromkeys((table.name for table in tables), _NO_ROWS)
    for table in filled(tx, tables):
        found[table.name] = total_of([one for page in pages_of(tx, table) for one in row_digests(page)])
    return found


def check_equal(read: Mapping[str, TableDigest], written: Mapping[str, TableDigest], place: str) -> None:
    """Raise when a copy does not have the rows that were read."""
    for name, digest in read.items():
        if written.get(name) != digest:
            raise StorageError(f"the copy of {name} in {place} differs from what was read; try again")


class Meter:
    """Reports progress in pages of a file, by the size of the values."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._left = 0

    def count(self, page: Iterable[Row]) -> None:
        """Add some rows."""
        self.add(sum(map(len, _stored(page))))

    def add(self, size: int) -> None:
        """Add the bytes of some rows."""
        self._left += size
        if pages := self._left // _PROGRESS_BYTES:
            self._left %= _PROGRESS_BYTES
            self._progress(pages)


def pages_of(tx: Tx, table: CopiedTable) -> Iterator[list[Row]]:
    """Yield the rows in the order of their key, with hidden texts shown."""
    listed = ", ".join(f'"{name}"' for name in table.columns)
    everything = f'SELECT {listed} FROM "{table.name}"'  # noqa: S608 - names of our own schema
    if not table.key:
        yield _shown(tx, table, tx.rows(everything, {}))
        return
    keys = ", ".join(f'"{name}"' for name in table.key)
    places = [table.columns.index(name) for name in table.key]
    marks = ", ".join(f":after{n}" for n in range(len(places)))
    ordered = f"ORDER BY {keys} LIMIT :most"
    page = tx.rows(f"{everything} {ordered}", {"most": _PAGE})
    while page:
        yield _shown(tx, table, page)
        if len(page) < _PAGE:
            return
        after = {f"after{n}": page[-1][place] for n, place in enumerate(places)}
        page = tx.rows(f"{everything} WHERE ({keys}) > ({marks}) {ordered}", {**after, "most": _PAGE})


def insert_rows(tx: Tx, table: CopiedTable, page: Iterable[Row], *, replacing: bool = False) -> None:
    """Add rows as `pages_of` returns them; with `replacing`, change those whose key is there."""
    listed = ", ".join(f'"{name}"' for name in table.columns)
    values = ", ".join(f":{name}" for name in table.columns)
    rows = ColumnRows(table.columns, _replaced(table, page, tx.stand_ins.hide))
    conflict = _on_conflict(table) if replacing and table.key else ""
    tx.add_rows(f'INSERT INTO "{table.name}" ({listed}) VALUES ({values}){conflict}', rows)  # noqa: S608 - see above


def _on_conflict(table: CopiedTable) -> str:
    changed = ", ".join(f'"{name}" = excluded."{name}"' for name in table.columns if name not in table.key)
    keys = ", ".join(f'"{name}"' for name in table.key)
    return f" ON CONFLICT ({keys}) DO " + (f"UPDATE SET {changed}" if changed else "NOTHING")


def update_rows(tx: Tx, table: CopiedTable, rows: Iterable[Row]) -> None:
    """Change the other columns of the rows that have these keys."""
    values = ", ".join(f'"{name}" = :{name}' for name in table.columns if name not in table.key)
    condition = " AND ".join(f'"{name}" = :{name}' for name in table.key)
    for row in _replaced(table, rows, tx.stand_ins.hide):
        given = dict(zip(table.columns, row, strict=True))
        tx.run(f'UPDATE "{table.name}" SET {values} WHERE {condition}', given)  # noqa: S608 - see above


def hide_key(table: CopiedTable, key: Sequence[Value], hide: Callable[[str], str]) -> dict[str, Value]:
    """Return a key as the database stores it, by the names of its columns."""
    described = CopiedTable(table.name, table.key, table.key)
    (hidden,) = _replaced(described, [tuple(key)], hide)
    return dict(zip(table.key, hidden, strict=True))


def _shown(tx: Tx, table: CopiedTable, page: Iterable[Row]) -> list[Row]:
    return _replaced(table, (row for row in page if row[0] not in table.skipped), tx.stand_ins.show)


def _replaced(table: CopiedTable, page: Iterable[Row], change: Callable[[str], str]) -> list[Row]:
    hidden = [(place, STAND_INS.get((table.name, name), ())) for place, name in enumerate(table.columns)]
    hidden = [(place, beginnings) for place, beginnings in hidden if beginnings]
    if not hidden:
        return list(page)
    return [_changed(row, hidden, change) for row in page]


def _changed(row: Row, hidden: Iterable[tuple[int, tuple[str, ...]]], change: Callable[[str], str]) -> Row:
    values = list(row)
    for place, beginnings in hidden:
        text: str = values[place]
        beginning = next((one for one in beginnings if text.startswith(one)), None)
        if beginning is not None and len(text) > len(beginning):
            values[place] = beginning + change(text[len(beginning) :])
    return tuple(values)


def row_digests(page: Iterable[Row]) -> list[bytes]:
    """Return the digest of each row's values; they are compared in this process only, and never stored."""
    return _digests(_stored(page))


def _stored(page: Iterable[Row]) -> list[bytes]:
    dumps = marshal.dumps
    return [dumps(tuple(row), _MARSHAL) for row in page]


def _digests(stored: Iterable[bytes]) -> list[bytes]:
    blake2b = hashlib.blake2b
    return [blake2b(one, digest_size=_DIGEST_BYTES).digest() for one in stored]


def total_of(digests: Collection[bytes]) -> TableDigest:
    """Return the digest of a table whose rows have these."""
    return TableDigest(len(digests), sum(map(int.from_bytes, digests)) % (1 << 8 * _DIGEST_BYTES))


def digest_page(page: Iterable[Row]) -> int:
    """Return the sum of the digests of some rows; the order does not matter."""
    return sum(map(int.from_bytes, row_digests(page)))
