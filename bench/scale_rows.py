"""Writes the rows of a vault again with psycopg alone, into tables with the same keys and indexes and nothing else.

The copies of the tables have no row-level security, no triggers and no foreign keys, and nothing reads them.
"""

import itertools
from collections.abc import Mapping
from typing import Any, LiteralString, cast

import psycopg
from psycopg import RawCursor

from recollectum.storage.postgres.connections.connection import configure, send
from recollectum.storage.postgres.row_arrays import array_of

#: The rows of some tables; each row has the columns of its table in their order, the number of the vault first.
WrittenRows = Mapping[str, list[tuple[Any, ...]]]
_COLUMNS = """
    SELECT c.relname, a.attname, CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END::bigint
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relrowsecurity AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attname <> 'vault', a.attnum
"""
_FIRST_VAULT = 1_000_000


class BareRows:
    """The tables of the vaults, and copies of them in which rows are written again, each time as another vault's."""

    def __init__(self, url: str) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            url, autocommit=True, prepare_threshold=1
        )
        configure(self._connection)
        self._cursor = RawCursor(self._connection)
        self._columns: dict[str, dict[str, int]] = {}
        for table, column, type_ in self._run(_COLUMNS):
            self._columns.setdefault(table, {})[column] = type_
        self._vaults = itertools.count(_FIRST_VAULT)
        self._run("CREATE SCHEMA bare")
        for table in self._columns:
            self._run(f"CREATE TABLE bare.{table} (LIKE recollectum.{table} INCLUDING INDEXES)")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def last_written(self, table: str) -> WrittenRows:
        """Return the rows of the transaction that wrote the newest row of one table, by table."""
        newest = self._run(f"SELECT xmin::text FROM recollectum.{table} ORDER BY xmin::text::bigint DESC LIMIT 1")[0][0]
        return self._rows(f"xmin::text = '{newest}'")

    def of_vault(self, vault: int) -> WrittenRows:
        """Return all rows of one vault."""
        return self._rows(f"vault = {vault:d}")

    def insert_each(self, rows: WrittenRows) -> None:
        """Write each row with one statement, in one durable transaction."""
        vault = next(self._vaults)
        send(self._connection, b"BEGIN")
        for table, found in rows.items():
            marks = ", ".join(f"${place}" for place in range(1, len(self._columns[table]) + 1))
            statement = f"INSERT INTO bare.{table} ({self._names(table)}) VALUES ({marks})".encode()
            for row in found:
                self._cursor.execute(statement, (vault, *row[1:]), binary=True)
        send(self._connection, b"COMMIT")

    def insert_all(self, rows: WrittenRows) -> None:
        """Write all rows of a table with one `INSERT … SELECT unnest`, in one durable transaction."""
        vault = next(self._vaults)
        send(self._connection, b"BEGIN")
        for table, found in rows.items():
            arrays = [array_of(type_) for type_ in self._columns[table].values()]
            listed = ", ".join(f"${place}::{one.name}[]" for place, one in enumerate(arrays, start=1))
            statement = f"INSERT INTO bare.{table} ({self._names(table)}) SELECT * FROM unnest({listed})".encode()
            columns = list(zip(*found, strict=True))
            columns[0] = (vault,) * len(found)
            values = [one(column) for one, column in zip(arrays, columns, strict=True)]
            self._cursor.execute(statement, values, binary=True)
        send(self._connection, b"COMMIT")

    def vault_bytes(self) -> int:
        """Return the size of all tables of the vaults with their indexes, without dead rows."""
        self._run("VACUUM FULL")
        sizes = (self._run(f"SELECT pg_total_relation_size('recollectum.{one}')") for one in self._columns)
        return sum(int(rows[0][0]) for rows in sizes)

    def _rows(self, condition: str) -> WrittenRows:
        found = {
            table: self._run(f"SELECT {self._names(table)} FROM recollectum.{table} WHERE {condition}")
            for table in self._columns
        }
        return {table: rows for table, rows in found.items() if rows}

    def _names(self, table: str) -> str:
        return ", ".join(f'"{one}"' for one in self._columns[table])

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(cast("LiteralString", statement), binary=True)
        return cursor.fetchall() if cursor.description else []
