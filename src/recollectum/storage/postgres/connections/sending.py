"""Sends the statements of one connection below psycopg's cursors, prepared from their second use on.

A cursor looks up a conversion for each value and each result, and a name for each combination of types. Here the types
are known: it takes a third of the time, and a statement is prepared once.
"""

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from psycopg import abc, generators, pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result

from recollectum.storage.port import Row
from recollectum.storage.postgres.connections.connection import FINE, Connected

#: More than there are statements.
_MOST_PREPARED = 2000
#: So many that no two connections of a server use the same names: a pooler may give this client a connection on which
#: another one has prepared statements.
_NAME_BITS = 62
_BINARY = pq.Format.BINARY
#: Bytes of a statement that waits for the next one.
_MOST_WAITING = 1 << 16
#: The values of a statement as they are sent.
Encoded = Sequence[bytes | None]


class Sent(NamedTuple):
    """A statement with the values of its parameters."""

    sql: bytes
    values: Encoded


#: How the server plans the statements that follow in the transaction, by whether it keeps their plans.
_PLANNING = {
    True: Sent(b"SET LOCAL plan_cache_mode = force_generic_plan", ()),
    False: Sent(b"SET LOCAL plan_cache_mode = force_custom_plan", ()),
}


class StatementSender:
    """Sends statements on one connection, one at a time or several in one round trip, and reads their results."""

    def __init__(self, connection: Connected) -> None:
        self._server = connection.pgconn
        self._prepares = connection.prepare_threshold is not None
        self._first = secrets.randbits(_NAME_BITS)
        #: The name of each statement that was sent; empty until it is sent again.
        self._names: dict[bytes, bytes] = {}

    def run(self, connection: Connected, sql: bytes, values: Encoded) -> pq.abc.PGresult:
        """Run a statement, and return the server's answer; raise what it says if it failed."""
        if self._is_prepared_now(sql):
            self._server.send_prepare(name := self._new_name(), sql)
            self._answer(connection)
            self._names[sql] = name
        self._send(sql, values)
        return self._answer(connection)

    def run_all(self, connection: Connected, batch: Sequence[Sent]) -> pq.abc.PGresult:
        """Run statements in one round trip, and return the answer to the last; raise what the first that failed says.

        After one that fails the server runs none of the others.
        """
        with pipeline(connection):
            expected = self.post(batch)
            self._server.pipeline_sync()
            answers = [connection.wait(generators.execute(self._server))[-1] for _ in range(expected + 1)]
        self.check(batch, answers)
        return answers[-2]

    def post(self, batch: Sequence[Sent]) -> int:
        """Send statements in a pipeline, and return how many answers come, for `check`."""
        prepared = 0
        for sql, values in batch:
            if self._is_prepared_now(sql):
                # A name that is never used if the pipeline fails before.
                name = self._new_name()
                self._server.send_prepare(name, sql)
                self._names[sql] = name
                prepared += 1
            self._send(sql, values)
        return len(batch) + prepared

    def check(self, batch: Sequence[Sent], answers: Sequence[pq.abc.PGresult]) -> None:
        """Raise what the first of some statements that failed says."""
        for answer in answers:
            if answer.status not in (*FINE, pq.ExecStatus.PIPELINE_SYNC):
                for one in batch:
                    # Perhaps the server never came to prepare it.
                    self._names.pop(one.sql, None)
                raise error_from_result(answer)

    def _send(self, sql: bytes, values: Encoded) -> None:
        server, formats = self._server, [_BINARY] * len(values)
        if name := self._names.get(sql):
            server.send_query_prepared(name, values, param_formats=formats, result_format=_BINARY)
            return
        if self._prepares and len(self._names) < _MOST_PREPARED:
            self._names[sql] = b""
        server.send_query_params(sql, values, param_formats=formats, result_format=_BINARY)

    def _is_prepared_now(self, sql: bytes) -> bool:
        """Return whether a statement is sent for the second time."""
        return self._prepares and self._names.get(sql) == b""

    def _new_name(self) -> bytes:
        return f"recollectum_{self._first:x}_{len(self._names)}_{secrets.token_hex(4)}".encode()

    def _answer(self, connection: Connected) -> pq.abc.PGresult:
        answer = connection.wait(generators.execute(self._server))[-1]
        if answer.status not in FINE:
            raise error_from_result(answer)
        return answer


@contextmanager
def pipeline(connection: Connected) -> Generator[None]:
    """Let several statements be sent before the first is answered; all answers are read when the block ends."""
    server = connection.pgconn
    server.enter_pipeline_mode()
    answered = False
    try:
        yield
        answered = True
    finally:
        if answered:
            server.exit_pipeline_mode()
        else:
            # Answers that nobody waits for would be taken for those of the next statement.
            connection.close()


_senders: "WeakKeyDictionary[Connected, StatementSender]" = WeakKeyDictionary()


def sender_of(connection: Connected) -> StatementSender:
    """Return the sender of a connection, which knows what is prepared on it."""
    found = _senders.get(connection)
    if found is None:
        found = _senders[connection] = StatementSender(connection)
    return found


class Outbox:
    """Sends the statements of one transaction. One that nobody waits for goes with the next, or with the COMMIT.

    `plans` says that the server plans each statement for the values that it gets. A statement that only inserts the
    values it is given has one plan, whatever they are; so for those the server is told to keep it.
    """

    def __init__(self, connection: Connected, *, plans: bool) -> None:
        self.connection = connection
        self._sender = sender_of(connection)
        self._waiting: list[Sent] = []
        self._plans = plans
        self._keeps_plans = not plans

    def run(self, sent: Sent, *, keeps_plan: bool) -> pq.abc.PGresult:
        """Send what waits and one statement more, and return the answer to that."""
        self._add(sent, keeps_plan=keeps_plan)
        batch = self.take()
        if len(batch) == 1:
            return self._sender.run(self.connection, *sent)
        return self._sender.run_all(self.connection, batch)

    def post(self, sent: Sent, *, keeps_plan: bool) -> None:
        """Let a statement without results wait for the next; a large one is sent at once."""
        if sum(len(one or b"") for one in sent.values) > _MOST_WAITING:
            self.run(sent, keeps_plan=keeps_plan)
        else:
            self._add(sent, keeps_plan=keeps_plan)

    def flush(self) -> None:
        """Send what waits."""
        if batch := self.take():
            self._sender.run_all(self.connection, batch)

    def take(self) -> list[Sent]:
        """Return what waits, to be sent elsewhere."""
        taken, self._waiting = self._waiting, []
        return taken

    def _add(self, sent: Sent, *, keeps_plan: bool) -> None:
        # Without parameters the server keeps the plan anyway.
        if self._plans and sent.values and keeps_plan != self._keeps_plans:
            self._keeps_plans = keeps_plan
            self._waiting.append(_PLANNING[keeps_plan])
        self._waiting.append(sent)


class RowReader:
    """Reads the rows of answers, with the conversions of one connection."""

    def __init__(self, connection: Connected) -> None:
        self._transformer: abc.Transformer = Transformer(connection)

    def rows(self, answer: pq.abc.PGresult) -> list[Row]:
        """Return the rows of an answer; none of a statement that returns nothing."""
        if not answer.ntuples:
            return []
        self._transformer.set_pgresult(answer)
        return self._transformer.load_rows(0, answer.ntuples, tuple)
