"""Commits a write, and finds out what became of one whose COMMIT was not answered.

The number of a transaction does not tell it apart for ever: after a crash, or on a standby that took over, the server
gives the same number to another one. So each write leaves a mark in the row that it locks, and that is looked for.
"""

import time
from collections.abc import Iterator, Sequence
from select import POLLIN, POLLOUT, poll
from typing import Any, Self

import psycopg
from psycopg import errors, pq

from recollectum.domain.errors import RecollectumError, StorageError, Undecided, Unreachable
from recollectum.domain.records import dataclass
from recollectum.storage.postgres.connections.connection import FINE, Connected, is_broken
from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.connections.sending import Sent, is_ahead, pipeline, sender_of
from recollectum.storage.postgres.scopes import KEPT_MARKS, DatabaseScope

_IS_STANDBY = "SELECT pg_is_in_recovery()"
_STATUS = "SELECT pg_xact_status(CAST(%s AS xid8))"
#: A write without effect, which is answered when the standbys have all writes before it.
_CONFIRM = b"SELECT pg_logical_emit_message(true, 'recollectum', '')"
#: What the server warns with, besides the code of a warning, when it no longer waits for its standbys.
_UNCONFIRMED = ("01000", "57P01")
#: A server that lost the connection may still be writing; it is asked again for so long.
_WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class StartedWrite:
    """A write that has its lock: how it is found again."""

    scope: DatabaseScope
    transaction: str
    #: The number of writes of the vault or of the catalog, with this one.
    number: int
    #: None for a claim, which locks no row of its vault.
    mark: int | None

    @classmethod
    def read(cls, begun: pq.abc.PGresult, scope: DatabaseScope) -> Self:
        """Return the write that a result of `DatabaseScope.write` describes."""
        mark = text_of(begun, 3)
        return cls(scope, text_of(begun, 1), int(text_of(begun, 2)), int(mark) if mark else None)


def commit(connection: Connected, write: StartedWrite, pool: SharedPool, rest: Sequence[Sent] = ()) -> None:
    """Send the rest of a write and commit it; raise unless it is stored, and confirmed by the standbys it waits for.

    The rest goes with the COMMIT in one round trip. If a statement of it fails, the server skips the COMMIT.
    """
    try:
        answer, confirmed = _send_commit(connection, b"COMMIT", pool.options.statement_ms, rest)
    except psycopg.OperationalError:
        if not is_broken(connection):
            raise
        if not _found_out(pool, write):
            raise Unreachable(f"the connection to {pool.place} was lost; nothing was written; try again") from None
        return
    if answer.command_status != b"COMMIT":
        # A statement failed and somebody went on: PostgreSQL rolls back and calls it a success.
        raise StorageError(f"a statement failed in {write.scope.place}; nothing was written")
    if not confirmed:
        raise _unconfirmed(pool)


def text_of(answer: pq.abc.PGresult, column: int) -> str:
    """Return a value of the first row of a result."""
    value: Any = answer.get_value(0, column)
    return bytes(value or b"").decode()


def _send_commit(
    connection: Connected, words: bytes, most_ms: int, rest: Sequence[Sent] = ()
) -> tuple[pq.abc.PGresult, bool]:
    """Return the server's last answer, and whether its standbys confirmed it.

    `statement_timeout` does not end the server's wait for a standby: after that time it is asked to wait no longer.
    """
    warned: list[str | None] = []

    def note(notice: errors.Diagnostic) -> None:
        # Read at once: the notice is gone when this returns.
        if notice.severity_nonlocalized == "WARNING":
            warned.append(notice.sqlstate)

    connection.add_notice_handler(note)
    try:
        if rest or is_ahead(connection):
            answer = _answered_with(connection, words, most_ms, rest)
        else:
            answer = _answered(connection, words, most_ms)
    finally:
        connection.remove_notice_handler(note)
    return answer, not any(code in _UNCONFIRMED for code in warned)


def _answered(connection: Connected, words: bytes, most_ms: int) -> pq.abc.PGresult:
    connection.pgconn.send_query(words)
    answer: pq.abc.PGresult | None = None
    for found in _answers(connection, most_ms):
        if found is None:
            return _checked(answer, connection)
        answer = found
    raise AssertionError("the last answer is followed by none")


def _answered_with(connection: Connected, words: bytes, most_ms: int, rest: Sequence[Sent]) -> pq.abc.PGresult:
    server, sender = connection.pgconn, sender_of(connection)
    answers: list[pq.abc.PGresult] = []
    with pipeline(connection):
        sender.post(rest)
        server.send_query_params(words, [])
        server.pipeline_sync()
        ended = False
        for found in _answers(connection, most_ms):
            if found is None:
                # The answers to a statement end. Where none follow, the connection is lost, whatever libpq calls it.
                if ended:
                    raise psycopg.OperationalError("the connection is lost")
            elif found.status == pq.ExecStatus.PIPELINE_SYNC:
                break
            else:
                answers.append(found)
            ended = found is None
    sender.check(answers)
    return _checked(answers[-1], connection)


def _answers(connection: Connected, most_ms: int) -> Iterator[pq.abc.PGresult | None]:
    """Yield what the server answers, and None where a statement has no further answer."""
    server = connection.pgconn
    ready = poll()
    wait = most_ms or None
    while True:
        ready.register(server.socket, POLLIN | (POLLOUT if server.flush() else 0))
        server.consume_input()
        while not server.is_busy():
            yield server.get_result()
        if not ready.poll(wait):
            connection.cancel_safe()
            wait = None


def _checked(answer: pq.abc.PGresult | None, connection: Connected) -> pq.abc.PGresult:
    if answer is None or is_broken(connection):
        raise psycopg.OperationalError("the connection is lost")
    if answer.status not in FINE:
        raise errors.error_from_result(answer)
    return answer


def _found_out(pool: SharedPool, write: StartedWrite) -> bool:
    """Return whether a write was committed, and count it as one whose COMMIT was not answered."""
    try:
        committed = _was_committed(pool, write)
    except Undecided:
        pool.traffic.count_lost("undecided")
        raise
    pool.traffic.count_lost("stored" if committed else "not stored")
    return committed


def _was_committed(pool: SharedPool, write: StartedWrite) -> bool:
    """Return whether a write was committed; raise when that cannot be found out."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        found = _ask(pool, write)
        if found is not None:
            return found
        if time.monotonic() >= deadline:
            raise _undecided(pool)
        time.sleep(_PAUSE_SECONDS)


def _ask(pool: SharedPool, write: StartedWrite) -> bool | None:
    """Return what the server says of a write; None while it says nothing or is away."""
    try:
        connection = pool.direct()
    except RecollectumError:
        return None
    try:
        return _find(connection, write, pool)
    except psycopg.Error:
        return None
    finally:
        connection.close()


def _find(connection: Connected, write: StartedWrite, pool: SharedPool) -> bool | None:
    # First whether it has ended: its mark may appear after the row was read.
    status = _status(connection, write.transaction)
    if status not in ("committed", "aborted"):
        return None
    if write.mark is None:
        if status == "committed":
            # Perhaps another's; what was claimed is free again when its lease ends.
            raise _undecided(pool)
        return False
    left = connection.execute(write.scope.written, prepare=False).fetchall()
    # A vault without a row was deleted, perhaps by this write.
    return _is_marked(connection, write, pool, *left[0]) if left else status == "committed"


def _status(connection: Connected, transaction: str) -> str | None:
    """Return what became of a transaction with this number; None from a standby, which may not have all."""
    if connection.execute(_IS_STANDBY, prepare=False).fetchall()[0][0]:
        return None
    try:
        ((status,),) = connection.execute(_STATUS, (transaction,), prepare=False).fetchall()
    except errors.InvalidParameterValue:
        # The server never gave this number: what it knew of the transaction is lost.
        return "aborted"
    return status


def _is_marked(connection: Connected, write: StartedWrite, pool: SharedPool, number: int, marks: list[int]) -> bool:
    if write.mark in marks:
        if not _send_commit(connection, _CONFIRM, pool.options.statement_ms)[1]:
            raise _unconfirmed(pool)
        return True
    if number - write.number < KEPT_MARKS:
        return False
    raise _undecided(pool)


def _undecided(pool: SharedPool) -> Undecided:
    return Undecided(
        f"the connection to {pool.place} was lost while a change was stored, and the server does not say "
        "whether it is stored; look whether it is there before you try again"
    )


def _unconfirmed(pool: SharedPool) -> Undecided:
    return Undecided(
        f"{pool.place} has stored a change that no standby has confirmed within storage.statement_timeout_seconds; "
        "look whether it is there before you try again"
    )
