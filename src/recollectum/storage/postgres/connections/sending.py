"""Sends the statements of one connection below psycopg's cursors, prepared from their second use on.

A cursor looks up a conversion for each value and each result, and a name for each combination of types. Here the types
are known: it takes a third of the time, and a statement is prepared once.
"""

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
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
#: Bytes of a statement that waits for the next one; the server begins with a larger one at once.
_MOST_WAITING = 1 << 14
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
        #: What was sent in a pipeline whose answers nobody has read.
        self._unanswered: list[Sent] = []

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

        After one that fails the server runs none of the others. Those that were sent ahead are answered first.
        """
        answers: list[pq.abc.PGresult] = []
        with pipeline(connection):
            self.post(batch)
            self._server.pipeline_sync()
            while not answers or answers[-1].status != pq.ExecStatus.PIPELINE_SYNC:
                answers.append(connection.wait(generators.execute(self._server))[-1])
        self.check(answers)
        return answers[-2]

    def send_ahead(self, connection: Connected, batch: Sequence[Sent]) -> None:
        """Begin a pipeline, or go on with it, and let the server work on statements whose answers are read later."""
        try:
            if not is_ahead(connection):
                self._server.enter_pipeline_mode()
            self.post(batch)
            if self._server.flush():
                self._send_rest()
        except BaseException:
            # Nobody could tell what the answers are to.
            connection.close()
            raise

    def _send_rest(self) -> None:
        """Send what the socket did not take, and read meanwhile: the server may wait until its answers are taken."""
        with DefaultSelector() as ready:
            ready.register(self._server.socket, EVENT_READ | EVENT_WRITE)
            while self._server.flush():
                ready.select()
                self._server.consume_input()

    def post(self, batch: Sequence[Sent]) -> None:
        """Send statements in a pipeline; their answers are for `check`."""
        self._unanswered += batch
        for sql, values in batch:
            if self._is_prepared_now(sql):
                # A name that is never used if the pipeline fails before.
                name = self._new_name()
                self._server.send_prepare(name, sql)
                self._names[sql] = name
            self._send(sql, values)

    def check(self, answers: Sequence[pq.abc.PGresult]) -> None:
        """Raise what the first statement of a pipeline that failed says."""
        batch, self._unanswered = self._unanswered, []
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


def is_ahead(connection: Connected) -> bool:
    """Return whether statements were sent ahead, whose answers are still to be read."""
    return connection.pgconn.pipeline_status != pq.PipelineStatus.OFF


@contextmanager
def pipeline(connection: Connected) -> Generator[None]:
    """Let several statements be sent before the first is answered; all answers are read when the block ends."""
    server = connection.pgconn
    answered = False
    try:
        if not is_ahead(connection):
            server.enter_pipeline_mode()
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


def settle(connection: Connected) -> None:
    """Wait for the answers to what was sent ahead, and raise what the first of them that failed says."""
    if is_ahead(connection):
        sender_of(connection).run_all(connection, ())


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
        if len(batch) == 1 and not is_ahead(self.connection):
            return self._sender.run(self.connection, *sent)
        return self._sender.run_all(self.connection, batch)

    def post(self, sent: Sent, *, keeps_plan: bool) -> None:
        """Let a statement without results wait for the next; a large one is sent at once, and its answer waits."""
        self._add(sent, keeps_plan=keeps_plan)
        if sum(len(one or b"") for one in sent.values) > _MOST_WAITING:
            self._sender.send_ahead(self.connection, self.take())

    def flush(self) -> None:
        """Send what waits, and read what the server says to it and to what was sent ahead."""
        if batch := self.take():
            self._sender.run_all(self.connection, batch)
        settle(self.connection)

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
