"""Statements are sent below psycopg's cursors: prepared once, and with the values that psycopg would send."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import RawCursor

from recollectum.storage.port import Value
from recollectum.storage.postgres.connections.connection import Connected, configure, is_broken, send
from recollectum.storage.postgres.connections.sending import RowReader, sender_of
from recollectum.storage.postgres.sealing import PlainValues, SealedValues
from recollectum.storage.postgres.statements import Statements
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import CuttingProxy, proxied

_PREPARED = "SELECT name FROM pg_prepared_statements WHERE name LIKE 'recollectum%'"
_VALUES = """
    SELECT CAST(:number AS BIGINT), CAST(:share AS DOUBLE PRECISION), CAST(:text AS TEXT), CAST(:name AS BLOB),
           array_length(CAST(:names AS BYTEA[]), 1)
"""
_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


def _connect(database: PostgresDatabase, *, prepares: bool = True) -> Connected:
    connection: Connected = psycopg.connect(
        database.administrator_url, autocommit=True, prepare_threshold=1 if prepares else None
    )
    configure(connection)
    return connection


@pytest.fixture
def connection(postgres: PostgresDatabase) -> Iterator[Connected]:
    with _connect(postgres) as connected:
        yield connected


def _names(connection: Connected) -> list[str]:
    return [row[0] for row in connection.execute(_PREPARED, prepare=False)]


def test_a_statement_is_prepared_once_when_it_is_sent_again(connection: Connected) -> None:
    sender = sender_of(connection)
    for value in (b"a", None, b"b", None):
        sender.run(connection, b"SELECT $1::text", [value])
    assert len(_names(connection)) == 1
    assert sender_of(connection) is sender


def test_it_stays_prepared_after_a_rollback(connection: Connected) -> None:
    sender = sender_of(connection)
    send(connection, b"BEGIN")
    for _ in range(2):
        sender.run(connection, b"SELECT 1", [])
    send(connection, b"ROLLBACK")
    sender.run(connection, b"SELECT 1", [])
    assert len(_names(connection)) == 1


def test_nothing_is_prepared_where_a_pooler_forbids_it(postgres: PostgresDatabase) -> None:
    with _connect(postgres, prepares=False) as connection:
        for _ in range(3):
            sender_of(connection).run(connection, b"SELECT 1", [])
        assert not _names(connection)


def test_two_connections_use_different_names(connection: Connected, postgres: PostgresDatabase) -> None:
    with _connect(postgres) as other:
        for one in (connection, other):
            for _ in range(2):
                sender_of(one).run(one, b"SELECT 1", [])
        assert set(_names(connection)).isdisjoint(_names(other))


def test_a_failed_statement_raises_what_the_server_says(connection: Connected) -> None:
    sender = sender_of(connection)
    for _ in range(3):
        with pytest.raises(psycopg.errors.DivisionByZero):
            sender.run(connection, b"SELECT 1 / $1::bigint", [bytes(8)])
    reader = RowReader(connection)
    assert reader.rows(sender.run(connection, b"SELECT 7", [])) == [(7,)]
    assert reader.rows(sender.run(connection, b"SET LOCAL work_mem = '4MB'", [])) == []


@pytest.mark.parametrize("end", [CuttingProxy.close, CuttingProxy.warn_and_close])
def test_a_connection_that_was_lost_while_idle_is_known_as_lost(
    postgres: PostgresDatabase, end: Callable[[CuttingProxy], None]
) -> None:
    with proxied(postgres) as (proxy, url):
        connection: Connected = psycopg.connect(url, autocommit=True)
        send(connection, b"SELECT 1")
        end(proxy)
        with pytest.raises(psycopg.OperationalError, match="the connection is lost"):
            send(connection, b"SELECT 1")
        assert is_broken(connection)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    number=st.none() | st.integers(-(2**63), 2**63 - 1),
    share=st.none() | st.floats(allow_nan=False),
    text=st.none() | _TEXT,
    name=st.none() | _TEXT | st.binary(max_size=20),
    names=st.sampled_from(['["a", "b"]', '["ä"]']),
)
@pytest.mark.parametrize("sealing", [PlainValues(), SealedValues(bytes(32))], ids=["plain", "encrypted"])
def test_values_arrive_as_psycopg_sends_them(connection: Connected, sealing: PlainValues, **values: Value) -> None:
    statement = Statements(in_vault=True).find(connection, _VALUES)
    encoded = statement.encoded(values, sealing)
    assert encoded is not None
    ours = RowReader(connection).rows(sender_of(connection).run(connection, statement.sent, encoded))
    theirs = RawCursor(connection).execute(statement.sent, statement.values(values, sealing), binary=True).fetchall()
    assert ours == theirs


def test_a_number_for_a_text_and_a_rare_type_are_left_to_psycopg(connection: Connected) -> None:
    statements = Statements(in_vault=True)
    text = statements.find(connection, "SELECT CAST(:text AS TEXT)")
    assert text.encoded({"text": 5}, PlainValues()) is None
    rare = statements.find(connection, "SELECT CAST(:given AS NUMERIC)")
    assert rare.encoded({"given": 5}, PlainValues()) is None
