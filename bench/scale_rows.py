"""Writes the rows of a vault again with psycopg alone, into the same tables as another vault's.

The tables are those of the product, and the role is the application's: row-level security, indexes, triggers and
foreign keys are the same, and nothing is read.
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, LiteralString, cast

import psycopg
from psycopg import RawCursor

from recollectum.storage.postgres.connections.connection import configure, send
from recollectum.storage.postgres.row_arrays import array_of
from tests.plugins.postgres import PostgresDatabase

#: The rows of some tables; each row has the columns of its table in their order, the number of the vault first.
WrittenRows = Mapping[str, list[tuple[Any, ...]]]
#: In the order in which the tables were created: each after those that it refers to.
_COLUMNS = """
    SELECT c.relname, a.attname, CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END::bigint
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relrowsecurity AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.oid, a.attname <> 'vault', a.attnum
"""
#: The triggers of the tables write their rows.
_BY_TRIGGERS = "counters"
#: Every write of a vault changes the row that it locks.
_CHANGE_VAULT = b"""
    UPDATE recollectum_catalog.vault_state
       SET changes = changes + 1, last_write_at = $2, recent_writes = (ARRAY[$3::bigint] || recent_writes)[1:32]
     WHERE vault = $1
"""
_ADD_VAULT = "INSERT INTO recollectum_catalog.vault_state (vault, vault_id) VALUES ({0}, 'bare {0}')"
_FIRST_VAULT = 1_000_000


class BareRows:
    """The tables of the vaults, in which rows are written again, each time as another vault's."""

    def __init__(self, database: PostgresDatabase) -> None:
        #: No policy limits it, and it sets no trigger off.
        self._watching: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            database.administrator_url, autocommit=True
        )
        self._run("SET session_replication_role = replica")
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            database.url(), autocommit=True, prepare_threshold=1
        )
        configure(self._connection)
        send(self._connection, b"SET search_path = recollectum, pg_temp")
        self._cursor = RawCursor(self._connection)
        self._columns: dict[str, dict[str, int]] = {}
        for table, column, type_ in self._run(_COLUMNS):
            self._columns.setdefault(table, {})[column] = type_
        self._vaults = itertools.count(_FIRST_VAULT)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
        self._watching.close()

    def last_written(self, table: str) -> WrittenRows:
        """Return the rows of the transaction that wrote the newest row of one table, by table."""
        newest = self._run(f"SELECT xmin::text FROM recollectum.{table} ORDER BY xmin::text::bigint DESC LIMIT 1")[0][0]
        return self._rows(f"xmin::text = '{newest}'")

    def of_vault(self, vault: int) -> WrittenRows:
        """Return all rows of one vault."""
        return self._rows(f"vault = {vault:d}")

    def one_by_one(self, rows: WrittenRows, times: int, changed: Collection[str] = ()) -> Callable[[], None]:
        """Return what writes each row with one statement, in one durable transaction, so many times.

        The rows of the tables in `changed` are there already, and are changed.
        """
        there = {table: found for table, found in rows.items() if table in changed}
        vaults = iter([self._new_vault(there) for _ in range(times)])
        sent = [
            (self._update(table) if table in changed else self._insert(table), row)
            for table, found in rows.items()
            for row in found
        ]

        def write() -> None:
            vault = self._begin(vaults)
            for statement, row in sent:
                self._cursor.execute(statement, (vault, *row[1:]), binary=True)
            send(self._connection, b"COMMIT")

        return write

    def together(self, rows: WrittenRows) -> Callable[[], None]:
        """Return what writes all rows of a table with one `INSERT … SELECT unnest`, in one durable transaction."""
        vaults = iter([self._new_vault({})])

        def write() -> None:
            vault = self._begin(vaults)
            for table, found in rows.items():
                arrays = [array_of(type_) for type_ in self._columns[table].values()]
                listed = ", ".join(f"${place}::{one.name}[]" for place, one in enumerate(arrays, start=1))
                statement = f"INSERT INTO {table} ({self._names(table)}) SELECT * FROM unnest({listed})".encode()
                columns = list(zip(*found, strict=True))
                columns[0] = (vault,) * len(found)
                values = [one(column) for one, column in zip(arrays, columns, strict=True)]
                self._cursor.execute(statement, values, binary=True)
            send(self._connection, b"COMMIT")

        return write

    def _new_vault(self, there: WrittenRows) -> int:
        vault = next(self._vaults)
        self._run(_ADD_VAULT.format(vault))
        for table, found in there.items():
            marks = ", ".join(["%s"] * len(self._columns[table]))
            statement = f"INSERT INTO recollectum.{table} ({self._names(table)}) VALUES ({marks})"
            for row in found:
                self._watching.execute(cast("LiteralString", statement), (vault, *row[1:]))
        return vault

    def _begin(self, vaults: Iterable[int]) -> int:
        vault = next(iter(vaults))
        send(self._connection, b"BEGIN; SET LOCAL recollectum.vault = '%d'" % vault)
        self._cursor.execute(_CHANGE_VAULT, (vault, vault, vault), binary=True)
        return vault

    def _insert(self, table: str) -> bytes:
        marks = ", ".join(f"${place}" for place in range(1, len(self._columns[table]) + 1))
        return f"INSERT INTO {table} ({self._names(table)}) VALUES ({marks})".encode()

    def _update(self, table: str) -> bytes:
        """The first column is the vault, and the second one the rest of the key."""
        names = list(self._columns[table])
        values = ", ".join(f'"{name}" = ${place}' for place, name in enumerate(names[2:], start=3))
        return f'UPDATE {table} SET {values} WHERE vault = $1 AND "{names[1]}" = $2'.encode()

    def vault_bytes(self) -> int:
        """Return the size of all tables of the vaults with their indexes, without dead rows."""
        self._run("VACUUM FULL")
        sizes = (self._run(f"SELECT pg_total_relation_size('recollectum.{one}')") for one in self._columns)
        return sum(int(rows[0][0]) for rows in sizes)

    def _rows(self, condition: str) -> WrittenRows:
        found = {
            table: self._run(f"SELECT {self._names(table)} FROM recollectum.{table} WHERE {condition}")
            for table in self._columns
            if table != _BY_TRIGGERS
        }
        return {table: rows for table, rows in found.items() if rows}

    def _names(self, table: str) -> str:
        return ", ".join(f'"{one}"' for one in self._columns[table])

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._watching.execute(cast("LiteralString", statement), binary=True)
        return cursor.fetchall() if cursor.description else []
