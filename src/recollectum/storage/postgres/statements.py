"""Learns the types of a statement's parameters and results from the server, once for each statement.

The types decide how a value is sent. Nothing here reads the SQL itself: the schema says which columns are which.
"""

from collections.abc import Callable
from typing import Any

from psycopg import Connection, generators, pq
from psycopg.errors import error_from_result
from psycopg.types.numeric import Int4

from recollectum.domain.records import dataclass
from recollectum.storage.port import Params, Value
from recollectum.storage.postgres.dialect import PostgresSql, to_postgres

_INT8, _INT2, _INT4, _FLOAT8 = 20, 21, 23, 701
Convert = Callable[[Any], Any]
_CONVERTED: dict[int, Convert] = {_INT8: int, _INT4: Int4, _INT2: Int4, _FLOAT8: float}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, with a function for each parameter that has to be converted before it is sent."""

    sent: bytes
    names: tuple[str, ...]
    converts: tuple[Convert | None, ...]

    def values(self, params: Params) -> list[Value]:
        """Return the values of the parameters, in the order of their numbers."""
        pairs = zip(self.names, self.converts, strict=True)
        return [_converted(params[name], convert) for name, convert in pairs]


class Statements:
    """The statements that the processes of one engine have used, as the server described them."""

    def __init__(self, *, in_vault: bool) -> None:
        self._in_vault = in_vault
        self._known: dict[str, Statement] = {}

    def find(self, connection: Connection[Any], sql: str) -> Statement:
        """Return a statement of the portable subset, ready to be sent."""
        found = self._known.get(sql)
        if found is None:
            found = self._known[sql] = _described(connection, to_postgres(sql, in_vault=self._in_vault))
        return found


def _converted(value: Value, convert: Convert | None) -> Any:  # noqa: ANN401 - what psycopg accepts
    return value if convert is None or value is None else convert(value)


def _described(connection: Connection[Any], sql: PostgresSql) -> Statement:
    server, sent = connection.pgconn, sql.text.encode()
    # The unnamed statement: it is replaced by the next one, and every pooler passes it on.
    _check(server.prepare(b"", sent))
    # Sent and awaited in two steps: the call that does both stops all threads of the process.
    server.send_describe_prepared(b"")
    described = connection.wait(generators.execute(server))[-1]
    _check(described)
    types = [described.param_type(place) for place in range(described.nparams)]
    return Statement(sent, sql.names, tuple(_CONVERTED.get(one) for one in types))


def _check(answer: pq.abc.PGresult) -> None:
    if answer.status != pq.ExecStatus.COMMAND_OK:
        raise error_from_result(answer)
