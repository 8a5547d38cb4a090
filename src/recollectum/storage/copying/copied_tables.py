"""Describes the tables of a file that another engine has too, and the highest numbers that were ever used in them."""

from collections.abc import Iterable, Mapping
from typing import cast

import apsw

from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.integrity import tables_of
from recollectum.storage.tables.trail.seals import MARK

#: Each engine records its own steps, and seals belong to plain files.
_OWN = frozenset(("migrations", "seals"))
#: Once it lists an id, the rows of that id are refused; so it comes after them.
_LAST = "erased"
_HAS_SEQUENCE = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'"
_NUMBERS = "SELECT name, seq FROM sqlite_sequence"
_RAISE = "UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = :name"
# SQLite ignores the row of a table without AUTOINCREMENT; it is kept for an engine that counts in all of them.
_ADD = """
    INSERT INTO sqlite_sequence (name, seq) SELECT :name, :last
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)
"""


def copied_tables(connection: apsw.Connection) -> tuple[CopiedTable, ...]:
    """Return the tables, each after those that it refers to."""
    names = [name for name, _ in tables_of(connection) if name not in _OWN]
    parents = {name: _parents(connection, name) for name in names}
    ordered: list[str] = []
    while len(ordered) < len(names):
        ordered += [name for name in names if name not in ordered and parents[name] <= {*ordered, name}]
    ordered.sort(key=lambda name: name == _LAST)
    return tuple(_described(connection, name) for name in ordered)


def last_numbers(tx: Tx) -> dict[str, int]:
    """Return the highest number ever used, by table; only of tables where it is kept."""
    return {row[0]: row[1] for row in tx.rows(_NUMBERS, {})} if tx.rows(_HAS_SEQUENCE, {}) else {}


def keep_last_numbers(tx: Tx, numbers: Mapping[str, int], tables: Iterable[CopiedTable]) -> None:
    """Use none of these numbers again."""
    if not tx.rows(_HAS_SEQUENCE, {}):
        return
    for name in {table.name for table in tables} & numbers.keys():
        tx.run(_RAISE, {"name": name, "last": numbers[name]})
        tx.run(_ADD, {"name": name, "last": numbers[name]})


def _parents(connection: apsw.Connection, name: str) -> set[str]:
    rows = cast(list[tuple[object, ...]], connection.execute(f"PRAGMA main.foreign_key_list('{name}')").fetchall())
    return {str(row[2]) for row in rows}


def _described(connection: apsw.Connection, name: str) -> CopiedTable:
    rows = connection.execute(f"PRAGMA main.table_info('{name}')").fetchall()
    columns = cast(list[tuple[int, str, str, int, object, int]], rows)
    ranked = sorted((rank, column) for _, column, *_, rank in columns if rank)
    skipped = frozenset((MARK,)) if name == "meta" else frozenset[str]()
    return CopiedTable(
        name=name,
        columns=tuple(column for _, column, *_ in columns),
        key=tuple(column for _, column in ranked),
        skipped=skipped,
    )
