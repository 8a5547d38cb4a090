"""Records what the engine sends to PostgreSQL, and sends it again with psycopg alone, as a floor to compare with."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, cast
from unittest import mock

import psycopg
from psycopg import RawCursor

from recollectum.storage.postgres import database
from recollectum.storage.postgres.connections import pool
from recollectum.storage.postgres.connections.connection import Connected, configure, send

#: A frame of a transaction, or a statement with its parameters.
Sent = tuple[bytes, Sequence[Any] | None]
_WRITTEN = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relrowsecurity ORDER BY c.relname
"""


def recorded(work: Callable[[], object]) -> list[Sent]:
    """Return what the work sends, in the order of each connection; a background thread has its own."""
    seen: dict[int, list[Sent]] = {}
    execute, frame = RawCursor.execute, send

    def note_statement(cursor: Any, query: bytes, params: Sequence[Any], **options: Any) -> object:  # noqa: ANN401
        seen.setdefault(id(cursor.connection), []).append((query, params))
        return execute(cursor, query, params, **options)

    def note_frame(connection: Connected, sql: bytes) -> object:
        seen.setdefault(id(connection), []).append((sql, None))
        return frame(connection, sql)

    with (
        mock.patch.object(RawCursor, "execute", note_statement),
        mock.patch.object(pool, "send", note_frame),
        mock.patch.object(database, "send", note_frame),
    ):
        work()
    return [one for sent in seen.values() for one in sent]


def index_reads(sent: Sequence[Sent]) -> list[Sent]:
    """Return only the reads of tokens and vectors, in one transaction."""
    begin = next(one for one in sent if one[1] is None and b"READ ONLY" in one[0])
    reads = [one for one in sent if one[1] is not None and (b"FROM search " in one[0] or b"FROM vectors " in one[0])]
    return [begin, *reads, (b"COMMIT", None)]


class BareClient:
    """Sends statements with psycopg alone, as the engine's connections are set."""

    def __init__(self, connection: Connected) -> None:
        self._connection = connection
        self._cursor = RawCursor(connection)

    def send(self, sent: Sequence[Sent]) -> int:
        """Send frames and statements again, fetch every row, and return how many there were."""
        count = 0
        for query, params in sent:
            if params is None:
                send(self._connection, query)
                continue
            cursor = self._cursor.execute(query, params, binary=True)
            count += len(cursor.fetchall()) if cursor.description else 0
        return count


@contextmanager
def bare_client(url: str) -> Generator[BareClient]:
    """A client on a connection like those of the engine."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=1) as connection:
        configure(connection)
        yield BareClient(connection)


class BareRows:
    """The rows that the last write of a vault wrote, which are written again into tables without rules and indexes."""

    def __init__(self, url: str) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            url, autocommit=True, prepare_threshold=1
        )
        self._tables = [row[0] for row in self._connection.execute(_WRITTEN)]
        self._run("CREATE SCHEMA bare")
        for table in self._tables:
            self._run(f"CREATE TABLE bare.{table} (LIKE recollectum.{table})")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def last_written(self, table: str) -> dict[str, list[str]]:
        """Return the rows of the transaction that wrote the newest row of one table, as texts, by table."""
        newest = self._run(f"SELECT xmin::text FROM recollectum.{table} ORDER BY xmin::text::bigint DESC LIMIT 1")[0][0]
        found: dict[str, list[str]] = {}
        for one in self._tables:
            rows = self._run(f"SELECT t::text FROM recollectum.{one} t WHERE xmin::text = '{newest}'")
            if rows:
                found[one] = [row[0] for row in rows]
        return found

    def insert_each(self, rows: dict[str, list[str]]) -> None:
        """Write each row with one statement, in one durable transaction."""
        with self._connection.transaction():
            for table, texts in rows.items():
                for text in texts:
                    self._run(f"INSERT INTO bare.{table} SELECT (CAST(%s AS recollectum.{table})).*", text)

    def insert_all(self, rows: dict[str, list[str]]) -> None:
        """Write all rows of a table with one statement, in one durable transaction."""
        with self._connection.transaction():
            for table, texts in rows.items():
                each = f"SELECT CAST(unnest(CAST(%s AS text[])) AS recollectum.{table}) AS x"
                self._run(f"INSERT INTO bare.{table} SELECT (x).* FROM ({each}) y", texts)

    def vault_bytes(self) -> int:
        """Return the size of all tables of the vaults with their indexes, without dead rows."""
        self._run("VACUUM FULL")
        sizes = (self._run(f"SELECT pg_total_relation_size('recollectum.{one}')") for one in self._tables)
        return sum(int(rows[0][0]) for rows in sizes)

    def _run(self, statement: str, *params: object) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(cast("LiteralString", statement), params or None)
        return cursor.fetchall() if cursor.description else []
