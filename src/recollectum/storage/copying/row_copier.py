"""Copies all rows of a database into another one, whichever engines the two have, and compares them by digest."""

import hashlib
import marshal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollectum.domain.errors import StorageError
from recollectum.storage.engine import Progress
from recollectum.storage.port import Row, Tx, Value

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


def clear_rows(target: Tx, tables: Sequence[CopiedTable]) -> None:
    """Delete the rows of all tables; `tables` lists each after those that it refers to."""
    for table in reversed(tables):
        target.run(f'DELETE FROM "{table.name}"', {})  # noqa: S608 - names of our own schema


def copy_rows(
    source: Tx, target: Tx, tables: Sequence[CopiedTable], progress: Progress = lambda _: None
) -> dict[str, TableDigest]:
    """Add the rows of one database to another, whose tables are empty; return the digests of what was read."""
    told = Meter(progress)
    found: dict[str, TableDigest] = {}
    for table in tables:
        rows = 0
        total = 0
        for page in pages_of(source, table):
            rows += len(page)
            total += digest_page(page)
            insert_rows(target, table, page)
            told.count(page)
        found[table.name] = TableDigest(rows, total % (1 << 8 * _DIGEST_BYTES))
    return found


def digest_rows(tx: Tx, tables: Sequence[CopiedTable]) -> dict[str, TableDigest]:
    """Return the digest of each table; equal on two engines when the rows are."""
    found: dict[str, TableDigest] = {}
    for table in tables:
        sums = [(len(page), digest_page(page)) for page in pages_of(tx, table)]
        total = sum(one for _, one in sums) % (1 << 8 * _DIGEST_BYTES)
        found[table.name] = TableDigest(sum(rows for rows, _ in sums), total)
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
        self._left += len(marshal.dumps([*page], _MARSHAL))
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
    rows = [dict(zip(table.columns, row, strict=True)) for row in _replaced(table, page, tx.stand_ins.hide)]
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


def row_digest(row: Row) -> bytes:
    """Return the digest of a row's values; it is compared in this process only, and never stored."""
    return hashlib.blake2b(marshal.dumps(tuple(row), _MARSHAL), digest_size=_DIGEST_BYTES).digest()


def total_of(digests: Collection[bytes]) -> TableDigest:
    """Return the digest of a table whose rows have these."""
    return TableDigest(len(digests), sum(map(int.from_bytes, digests)) % (1 << 8 * _DIGEST_BYTES))


def digest_page(page: Iterable[Row]) -> int:
    """Return the sum of the digests of some rows; the order does not matter."""
    return sum(int.from_bytes(row_digest(row)) for row in page)
