"""Records what the engine sends to PostgreSQL, and sends it again with psycopg alone, as a floor to compare with."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg
from psycopg import RawCursor, pq

from recollectum.storage.port import Params
from recollectum.storage.postgres import database
from recollectum.storage.postgres.connections import pool
from recollectum.storage.postgres.connections.connection import Connected, configure, send
from recollectum.storage.postgres.connections.sending import Outbox
from recollectum.storage.postgres.connections.sending import Sent as EncodedStatement
from recollectum.storage.postgres.row_arrays import Array, RowsStatement
from recollectum.storage.postgres.sealing import PlainValues
from recollectum.storage.postgres.statements import Statement

#: A frame of a transaction, or a statement with its parameters.
Sent = tuple[bytes, Sequence[Any] | None]


def recorded(work: Callable[[], object]) -> list[Sent]:
    """Return what the work sends, in the order of each connection; a background thread has its own."""
    seen: dict[int, list[Sent]] = {}
    # The values before they are encoded: psycopg encodes them again when they are sent bare.
    encoded, batches, run, post, frame = Statement.encoded, RowsStatement.batches, Outbox.run, Outbox.post, send
    given = threading.local()

    def note_values(statement: Statement, params: Params, sealing: PlainValues) -> list[bytes | None] | None:
        given.values = statement.values(params, sealing)
        return encoded(statement, params, sealing)

    def note_columns(
        statement: RowsStatement, rows: Sequence[Params], sealing: PlainValues, numbers: Sequence[int] = ()
    ) -> Generator[list[Array]]:
        for given.values in batches(statement, rows, sealing, numbers):
            yield given.values

    def note_run(outbox: Outbox, one: EncodedStatement, *, keeps_plan: bool) -> pq.abc.PGresult:
        seen.setdefault(id(outbox.connection), []).append((one.sql, given.values))
        return run(outbox, one, keeps_plan=keeps_plan)

    def note_post(outbox: Outbox, one: EncodedStatement, *, keeps_plan: bool) -> None:
        seen.setdefault(id(outbox.connection), []).append((one.sql, given.values))
        post(outbox, one, keeps_plan=keeps_plan)

    def note_frame(connection: Connected, sql: bytes) -> object:
        seen.setdefault(id(connection), []).append((sql, None))
        return frame(connection, sql)

    with (
        mock.patch.object(Statement, "encoded", note_values),
        mock.patch.object(RowsStatement, "batches", note_columns),
        mock.patch.object(Outbox, "run", note_run),
        mock.patch.object(Outbox, "post", note_post),
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
        return sum(len(rows) for rows in self._results(sent))

    def send_and_unseal(self, sent: Sequence[Sent], sealing: PlainValues) -> int:
        """Send statements again, and decrypt the last column of each row."""
        return sum(len(sealing.unseal_all([row[-1] for row in rows])) for rows in self._results(sent))

    def _results(self, sent: Sequence[Sent]) -> Generator[list[tuple[Any, ...]]]:
        for query, params in sent:
            if params is None:
                send(self._connection, query)
                continue
            cursor = self._cursor.execute(query, params, binary=True)
            yield cursor.fetchall() if cursor.description else []


@contextmanager
def bare_client(url: str) -> Generator[BareClient]:
    """A client on a connection like those of the engine."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=1) as connection:
        configure(connection)
        yield BareClient(connection)
