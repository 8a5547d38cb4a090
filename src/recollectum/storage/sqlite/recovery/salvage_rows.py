"""Reads the rows of a damaged table that lie around its unreadable pages."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import cast

import apsw

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row
from recollectum.storage.sqlite.integrity import UNREADABLE

#: Rows per query. An unreadable page costs at most as many queries as it has rows, and loses no other rows.
_SPAN = 256
#: Where the first column of a table's key is found again, for tables without an index that lists every row.
_KEYED_BY = {
    "memory_versions": ("SELECT id FROM memories",),
    "quarantined": ("SELECT id FROM messages", "SELECT id FROM memories"),
    "barred": ("SELECT id FROM messages",),
    "imports": ("SELECT id FROM sessions",),
    "proposals": ("SELECT proposal_id FROM proposal_items",),
}


@dataclass(slots=True)
class RecoveredRows:
    """An iterator of rows; its two numbers are final once all rows were read."""

    rows: Iterator[Row] = field(default_factory=lambda: iter(()))
    lost: int = 0
    #: Whether an undamaged index told how many rows there are.
    exact: bool = True


def numbered_rows(old: apsw.Connection, table: str, columns: Sequence[str]) -> RecoveredRows:
    """Return the rows of a table that has row ids."""
    found = RecoveredRows()
    found.rows = _numbered(old, table, columns, found)
    return found


def keyed_rows(old: apsw.Connection, table: str, columns: Sequence[str], keys: Sequence[str]) -> RecoveredRows:
    """Return the rows of a table without row ids, in the order of its key."""
    found = RecoveredRows()
    found.rows = _keyed(old, table, columns, keys, found)
    return found


def _numbered(old: apsw.Connection, table: str, columns: Sequence[str], found: RecoveredRows) -> Iterator[Row]:
    numbers, found.exact = _numbers(old, table)
    sql = f'SELECT rowid, {_listed(columns)} FROM "{table}" WHERE rowid BETWEEN ? AND ? ORDER BY rowid'  # noqa: S608
    known = set(numbers)
    spans = [numbers[start : start + _SPAN] for start in range(0, len(numbers), _SPAN)]
    # Spans are taken from the end of the list, so the first one goes last: rows then come in order.
    waiting = spans[::-1]
    while waiting:
        span = waiting.pop()
        try:
            rows = old.execute(sql, (span[0], span[-1])).fetchall()
        except UNREADABLE:
            if len(span) == 1:
                found.lost += 1
            else:
                middle = len(span) // 2
                waiting += [span[middle:], span[:middle]]
            continue
        # A row that no index lists was read from a page that no longer belongs to this table.
        right = [row for row in rows if row[0] in known]
        found.lost += len(span) - len(right) if found.exact else 0
        yield from (row[1:] for row in right)


def _numbers(old: apsw.Connection, table: str) -> tuple[list[int], bool]:
    """Return the row ids of a table and whether they are complete: from an undamaged index, or up to the bad pages."""
    seen: set[int] = set()
    whole = False
    plain = f'SELECT rowid FROM "{table}"'  # noqa: S608
    for sql in (f"{plain} NOT INDEXED", *(f'{plain} INDEXED BY "{name}"' for name in _indexes(old, table))):
        numbers, ended = _read_on(old, sql)
        seen.update(cast(int, row[0]) for row in numbers)
        whole = whole or ended
    if whole:
        return sorted(seen), True
    last = max(seen | {cast(int, row[0]) for row in _read_on(old, f"{plain} ORDER BY rowid DESC LIMIT 1")[0]} | {0})
    return list(range(1, last + 1)), False


def _keyed(
    old: apsw.Connection, table: str, columns: Sequence[str], keys: Sequence[str], found: RecoveredRows
) -> Iterator[Row]:
    places = [columns.index(key) for key in keys]
    plain = f'SELECT {_listed(columns)} FROM "{table}" NOT INDEXED ORDER BY '  # noqa: S608
    rows, ended = _read_on(old, plain + ", ".join(f'"{key}"' for key in keys))
    seen = {tuple(row[place] for place in places) for row in rows}
    yield from rows
    if ended:
        return
    # There may be more rows behind the bad page, which are reached from the end, or key by key.
    behind, _ = _read_on(old, plain + ", ".join(f'"{key}" DESC' for key in keys))
    known, found.exact = _known_keys(old, table, keys)
    first = {row for sql in _KEYED_BY.get(table, ()) for row in _read_on(old, sql)[0]}
    for row in [*behind, *_one_by_one(old, table, columns, keys, known | first)]:
        key = tuple(row[place] for place in places)
        if key not in seen:
            seen.add(key)
            yield row
    found.lost = len(known - seen) if found.exact else max(1, len(known - seen))


def _known_keys(old: apsw.Connection, table: str, keys: Sequence[str]) -> tuple[set[Row], bool]:
    known: set[Row] = set()
    whole = False
    for name in _indexes(old, table):
        rows, ended = _read_on(old, f'SELECT {_listed(keys)} FROM "{table}" INDEXED BY "{name}"')  # noqa: S608
        known.update(rows)
        whole = whole or ended
    return known, whole


def _one_by_one(
    old: apsw.Connection, table: str, columns: Sequence[str], keys: Sequence[str], known: set[Row]
) -> Iterator[Row]:
    for key in sorted(known, key=repr):
        where = " AND ".join(f'"{column}" IS ?' for column in keys[: len(key)])
        rows, _ = _read_on(old, f'SELECT {_listed(columns)} FROM "{table}" WHERE {where}', key)  # noqa: S608
        yield from rows


def _indexes(old: apsw.Connection, table: str) -> list[str]:
    """Return the indexes that list every row: no partial ones, and not the table's primary key order."""
    rows, _ = _read_on(old, f'PRAGMA index_list("{table}")')
    return [cast(str, name) for _, name, _, origin, partial in rows if not partial and _is_apart(old, name, origin)]


def _is_apart(old: apsw.Connection, name: object, origin: object) -> bool:
    if origin != "pk":
        return True
    # The primary key of a table without row ids is the table itself, and has no root page.
    rows, _ = _read_on(old, "SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
    return bool(rows)


def _read_on(old: apsw.Connection, sql: str, params: Row = ()) -> tuple[list[Row], bool]:
    """Return the rows up to the first unreadable one, and whether all could be read."""
    rows: list[Row] = []
    try:
        for row in old.execute(sql, params):
            rows.append(row)
    except UNREADABLE:
        return rows, False
    except apsw.SQLError:
        # The damaged schema lacks this index, or the index cannot answer this query.
        return rows, False
    return rows, True


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
