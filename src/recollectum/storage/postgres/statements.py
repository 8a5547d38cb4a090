"""Learns the types of a statement's parameters and results from the server, once for each statement.

The types decide how a value is sent, and whether it is encrypted before: see `sealing`. Nothing here reads the SQL
itself: the schema says which columns are which.
"""

import json
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

from psycopg import Connection, generators, pq
from psycopg.errors import error_from_result
from psycopg.types.numeric import Int4

from recollectum.domain.records import dataclass
from recollectum.storage.port import Params, Row, Value
from recollectum.storage.postgres.connections.sending import pipeline, settle
from recollectum.storage.postgres.dialect import (
    NumberedInsert,
    PostgresSql,
    numbered_insert,
    to_postgres,
    to_postgres_rows,
)
from recollectum.storage.postgres.row_arrays import RowsStatement, array_of, to_bytes_array
from recollectum.storage.postgres.sealing import PlainValues

_INT8, _INT2, _INT4, _TEXT, _FLOAT8, _BYTES, _LIST_OF_BYTES = 20, 21, 23, 25, 701, 17, 1001
#: The types that a schema adds have higher numbers; ours add one, `sealed`.
_LAST_BUILT_IN = 16383
Convert = Callable[[Any, PlainValues], Any]
_CONVERTED: dict[int, Convert] = {
    _INT8: lambda value, _: int(value),
    _INT4: lambda value, _: Int4(value),
    _INT2: lambda value, _: Int4(value),
    _FLOAT8: lambda value, _: float(value),
    _BYTES: lambda value, sealing: sealing.seal_equal(value),
    _LIST_OF_BYTES: lambda value, sealing: [sealing.seal_equal(one) for one in json.loads(value)],
}
#: A statement that names the table it changes, and one that changes nothing: the storage calls no function that does.
_CHANGE = re.compile(r'\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)')
_READ = re.compile(r"\s*(?:SELECT\b|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE)\b))", re.DOTALL)
#: The tables whose new rows have one plan in every vault. The server checks them against no other table, or against one
#: that has a single index: a kept plan for that check would take an index that suits small vaults alone.
KEPT_PLANS = frozenset(("memories", "chunks", "events", "search", "vectors", "embedding_cache", "meta"))
_VALUES = re.compile(r"\s*INSERT INTO\b(?!.*\bSELECT\b)", re.DOTALL)
_DOUBLE = struct.Struct(">d")
#: Encodes a value as the server reads it, encrypted where its column is.
Encode = Callable[[Any, PlainValues], bytes]
_ENCODED: dict[int, Encode] = {
    _INT8: lambda value, _: int(value).to_bytes(8, "big", signed=True),
    _TEXT: lambda value, _: value.encode(),
    _FLOAT8: lambda value, _: _DOUBLE.pack(value),
    _BYTES: lambda value, sealing: sealing.seal_equal(value),
    _LIST_OF_BYTES: lambda value, sealing: to_bytes_array([sealing.seal_equal(one) for one in json.loads(value)]),
}


#: Encrypts the values of a column of new rows, by its type.
_SEALED_COLUMNS: dict[int, Callable[[Sequence[Any], PlainValues], list[bytes | None]]] = {
    _BYTES: lambda column, sealing: sealing.seal_equal_all(column),
    _LAST_BUILT_IN + 1: lambda column, sealing: sealing.seal_all(column),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, with a function for each parameter that has to be converted before it is sent."""

    sent: bytes
    names: tuple[str, ...]
    converts: tuple[Convert | None, ...]
    #: Encode the parameters; None where one has a type that only psycopg encodes.
    encodes: tuple[Encode, ...] | None
    #: The places of the results that were sealed.
    sealed: tuple[int, ...]
    #: The table that it changes; None if it changes nothing, and empty where only the server knows.
    changed: str | None
    #: Whether it has one plan, whatever its values and its vault are: it inserts them and reads no table.
    keeps_plan: bool
    #: Whether it returns rows.
    returns: bool
    #: The INSERT that it was made from, where the client gives the row its number.
    numbered: NumberedInsert | None

    def encoded(self, params: Params, sealing: PlainValues) -> list[bytes | None] | None:
        """Return the values of the parameters as the server reads them; None where psycopg has to encode them."""
        if self.encodes is None:
            return None
        pairs = zip(self.names, self.encodes, strict=True)
        try:
            return [None if (value := params[name]) is None else encode(value, sealing) for name, encode in pairs]
        except AttributeError:
            # A number where the server takes a text: psycopg says what it is.
            return None

    def values(self, params: Params, sealing: PlainValues) -> list[Value]:
        """Return the values of the parameters as they are sent, in the order of their numbers."""
        pairs = zip(self.names, self.converts, strict=True)
        return [_converted(params[name], convert, sealing) for name, convert in pairs]

    def unsealed(self, rows: Sequence[Row], sealing: PlainValues) -> list[Row]:
        """Return the rows of a result with their values decrypted, a column at a time."""
        if not rows:
            return []
        columns: list[Sequence[Value]] = list(zip(*rows, strict=True))
        for place in self.sealed:
            columns[place] = sealing.unseal_all(cast("Sequence[bytes | None]", columns[place]))
        return list(zip(*columns, strict=True))


class Statements:
    """The statements that the processes of one engine have used, as the server described them."""

    def __init__(self, *, in_vault: bool) -> None:
        self._in_vault = in_vault
        self._known: dict[str, Statement] = {}
        self._known_of_rows: dict[str, RowsStatement] = {}

    def find(self, connection: Connection[Any], sql: str) -> Statement:
        """Return a statement of the portable subset, ready to be sent."""
        found = self._known.get(sql)
        if found is None:
            found = self._known[sql] = self._described(connection, sql)
        return found

    def find_of_rows(self, connection: Connection[Any], sql: str) -> RowsStatement:
        """Return an INSERT of one row as one of many."""
        found = self._known_of_rows.get(sql)
        if found is None:
            found = self._known_of_rows[sql] = self._of_rows(connection, sql)
        return found

    def _of_rows(self, connection: Connection[Any], sql: str) -> RowsStatement:
        numbered = numbered_insert(sql) if self._in_vault else None
        sql = numbered.sql if numbered else sql
        described = _describe(connection, to_postgres(sql, in_vault=self._in_vault))
        types = [described.param_type(place) for place in range(described.nparams)]
        arrays = [array_of(_BYTES if one > _LAST_BUILT_IN else one) for one in types]
        return RowsStatement(
            to_postgres_rows(sql, [one.name for one in arrays], in_vault=self._in_vault).encode(),
            to_postgres(sql, in_vault=self._in_vault).names,
            tuple(_SEALED_COLUMNS.get(min(one, _LAST_BUILT_IN + 1)) for one in types),
            tuple(arrays),
            (changed := changed_table(sql) or ""),
            keeps_plan=changed in KEPT_PLANS,
            returns=described.nfields > 0,
            numbered=numbered,
        )

    def _described(self, connection: Connection[Any], sql: str) -> Statement:
        numbered = numbered_insert(sql) if self._in_vault else None
        translated = to_postgres(numbered.sql if numbered else sql, in_vault=self._in_vault)
        described = _describe(connection, translated)
        types = [described.param_type(place) for place in range(described.nparams)]
        results = [described.ftype(place) for place in range(described.nfields)]
        changed = changed_table(sql)
        return Statement(
            translated.text.encode(),
            translated.names,
            tuple(_convert(one) for one in types),
            _encoders(types),
            tuple(place for place, one in enumerate(results) if one == _BYTES),
            changed,
            keeps_plan=changed in KEPT_PLANS and _VALUES.match(sql) is not None,
            returns=bool(results),
            numbered=numbered,
        )


def changed_table(sql: str) -> str | None:
    """Return the table that a statement changes; None if it changes nothing, and "" where that is not clear."""
    if found := _CHANGE.match(sql):
        return found[1]
    return None if _READ.match(sql) else ""


def _convert(type_: int) -> Convert | None:
    return _seal if type_ > _LAST_BUILT_IN else _CONVERTED.get(type_)


def _encoders(types: Sequence[int]) -> tuple[Encode, ...] | None:
    found = [_seal if one > _LAST_BUILT_IN else _ENCODED.get(one) for one in types]
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


def _seal(value: str | bytes, sealing: PlainValues) -> bytes:
    return sealing.seal(value)


def _converted(value: Value, convert: Convert | None, sealing: PlainValues) -> Any:  # noqa: ANN401 - what psycopg accepts
    return value if convert is None or value is None else convert(value, sealing)


def _describe(connection: Connection[Any], sql: PostgresSql) -> pq.abc.PGresult:
    """Return the types of a statement as the server tells them, in one round trip."""
    server = connection.pgconn
    settle(connection)
    with pipeline(connection):
        # The unnamed statement: it is replaced by the next one, and every pooler passes it on.
        server.send_prepare(b"", sql.text.encode())
        server.send_describe_prepared(b"")
        server.pipeline_sync()
        prepared, described, _ = [connection.wait(generators.execute(server))[-1] for _ in range(3)]
    _check(prepared)
    _check(described)
    return described


def _check(answer: pq.abc.PGresult) -> None:
    if answer.status != pq.ExecStatus.COMMAND_OK:
        raise error_from_result(answer)
