"""Opens a connection to PostgreSQL, decides how values travel, and sends what frames a transaction.

A parameter has the type that the server expects, whatever its value: a small number must not become a `smallint`, which
would give each size of number its own plan.

A transaction is begun, committed and rolled back below psycopg's cursors: it costs a quarter of the time, and psycopg
does not drop the prepared statements of the connection after a rollback.
"""

import secrets
from decimal import Decimal
from typing import Any

from psycopg import Connection, OperationalError, pq
from psycopg.adapt import Buffer, Loader
from psycopg.errors import error_from_result
from psycopg.types.numeric import FloatBinaryDumper, Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper

from recollectum.storage.postgres.connections.address import DatabaseAddress
from recollectum.storage.postgres.row_arrays import register_arrays

Connected = Connection[tuple[Any, ...]]
FINE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.EMPTY_QUERY)


#: What PgBouncer says to a client that waited too long for a connection; it closes that client's connection.
_POOLER_FULL = "query_wait_timeout"
#: So many that no two connections of a server use the same names.
_NAME_BITS = 62
_BOOL, _NUMERIC = 16, 1700


class PoolerFull(OperationalError):
    """A pooler had no connection left for this client; trying again at once would wait as long again."""


class _TruthLoader(Loader):
    """Reads a truth value as 0 or 1, as SQLite returns it."""

    format = 1  # pyright: ignore[reportAssignmentType]

    def load(self, data: Buffer) -> int:
        return int(data != b"\x00")


class _NumberLoader(NumericBinaryLoader):
    """Reads a sum of whole numbers as a whole number, and any other decimal as a float."""

    def load(self, data: Buffer) -> Any:  # noqa: ANN401 - as the class above has it
        found: Decimal = super().load(data)
        return int(found) if found == found.to_integral_value() else float(found)


def connection_options(address: DatabaseAddress, *, prepares: bool) -> dict[str, Any]:
    """Return the arguments of `psycopg.connect`."""
    return {
        **address.options,
        "autocommit": True,
        "prepare_threshold": 1 if prepares else None,
    }


def configure(connection: Connected) -> None:
    """Prepare a new connection for use."""
    # More than there are statements, each of which may be prepared for a few combinations of types.
    connection.prepared_max = 2000
    # A pooler may give this client a connection on which another one has prepared statements. psycopg counts the names
    # of each connection from 0: without this it could run a statement of the other client.
    connection._prepared._prepared_idx = secrets.randbits(_NAME_BITS)  # pyright: ignore[reportPrivateUsage]
    _register_values(connection)


def send(connection: Connected, sql: bytes) -> pq.abc.PGresult:
    """Run constant statements in one round trip, and return the result of the last."""
    answer = connection.pgconn.exec_(sql)
    if answer.status not in FINE:
        error = error_from_result(answer)
        if error.sqlstate is None:
            # The server did not say it: a write failed, after which libpq still takes the connection for a good one.
            lost = _of_lost(connection)
            connection.close()
            raise lost
        if is_broken(connection):
            raise _of_lost(connection)
        raise error
    return answer


def _of_lost(connection: Connected) -> OperationalError:
    # The answer has only the end of the connection; what was said before is with the connection.
    if _POOLER_FULL.encode() in connection.pgconn.error_message:
        return PoolerFull(_POOLER_FULL)
    return OperationalError("the connection is lost")


def is_broken(connection: Connected) -> bool:
    """Return whether a connection was lost."""
    return connection.closed or connection.pgconn.status == pq.ConnStatus.BAD


def _register_values(connection: Connected) -> None:
    """Set how the values of one connection are converted."""
    adapters = connection.adapters
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(float, FloatBinaryDumper)
    adapters.register_dumper(str, StrBinaryDumper)
    register_arrays(connection)
    adapters.register_loader(_BOOL, _TruthLoader)
    adapters.register_loader(_NUMERIC, _NumberLoader)
