"""Many rows in one statement: the values, their order and their numbers are those of one statement for each."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput, StorageError
from recollectum.storage.port import Database, Params, Tx
from recollectum.storage.postgres import row_arrays
from recollectum.storage.postgres.dialect import to_postgres_rows
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import engine_of, vault_of

_ADD = """
    INSERT INTO events (at, type, subject, subject_id, actor, state, payload)
    VALUES (:at, 'created', :subject, :subject_id, :actor, :state, :payload) RETURNING number
"""
_ALL = "SELECT number, at, type, subject, subject_id, actor, state, payload FROM events ORDER BY number"


@pytest.fixture
def vault(postgres: PostgresDatabase, tmp_path: Path) -> Iterator[Database]:
    with vault_of(engine_of(tmp_path, postgres.url())) as database:
        yield database


def _event(number: int, **other: str | int | None) -> Params:
    given = {"at": number, "subject": "memory", "subject_id": f"m{number}", "actor": "käthe", "state": None}
    return {**given, "payload": '{"a": "\\\\ \' % $1 :x"}' if number % 2 else "", **other}


def test_rows_are_numbered_in_their_order_and_read_back_as_they_were(vault: Database) -> None:
    rows = [_event(number) for number in (5, -(2**63), 2**63 - 1, 0)]
    alone = vault.write(lambda tx: tx.rows(_ADD, _event(9)))
    numbers = vault.write(lambda tx: tx.add_rows(_ADD, rows))
    assert sorted(numbers) == [(alone[0][0] + place,) for place in range(1, 5)]
    names = ("at", "subject", "subject_id", "actor", "state", "payload")
    found = vault.read(lambda tx: tx.rows(_ALL, {}))[1:]
    assert [(row[1], *row[3:]) for row in found] == [tuple(row[name] for name in names) for row in rows]


_NUMBERS = st.integers(-(2**63), 2**63 - 1)
_COLUMNS = st.one_of(
    *(
        st.tuples(st.just(type_), st.one_of(st.lists(value), st.lists(st.none() | value), st.lists(st.just(one))))
        for type_, value, one in (
            (20, _NUMBERS | st.booleans(), 7),
            (25, st.text(st.characters(exclude_categories=["Cs"]), max_size=3), "mem_é"),
            (17, st.binary(max_size=3), b"\0"),
            (701, st.floats() | st.just(-0.0), 0.5),
        )
    )
)


@given(_COLUMNS)
def test_a_column_is_encoded_as_its_values_are_one_by_one(column: tuple[int, list[Any]]) -> None:
    type_, values = column
    of_type = row_arrays.array_of(type_)
    head = struct.pack(">iiIii", 1, None in values, type_, len(values), 1)
    assert of_type(values).data == head + b"".join(of_type.encoded(values))


def test_no_rows_send_nothing(vault: Database) -> None:
    assert vault.write(lambda tx: tx.add_rows(_ADD, [])) == []


@pytest.mark.parametrize("bad", [{"at": 2**63}, {"subject": "a\0b"}, {"subject": "\udc00"}])
def test_a_value_that_no_column_holds_is_bad_input_and_none_is_written(
    vault: Database, bad: dict[str, str | int]
) -> None:
    with pytest.raises(InvalidInput):
        vault.write(lambda tx: tx.add_rows(_ADD, [_event(1), _event(2, **bad)]))
    assert vault.read(lambda tx: tx.rows(_ALL, {})) == []


def test_what_is_too_large_for_one_message_is_sent_in_several(vault: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_arrays, "_MOST_BYTES", 300)
    vault.write(lambda tx: tx.add_rows(_ADD, [_event(number, payload="x" * 200) for number in range(5)]))
    assert [row[1] for row in vault.read(lambda tx: tx.rows(_ALL, {}))] == list(range(5))


def _large(count: int) -> list[Params]:
    """Events that are sent before the transaction goes on, and answered later."""
    return [_event(number, payload="x" * 50_000) for number in range(count)]


def test_the_work_goes_on_while_the_server_writes_large_rows(vault: Database) -> None:
    def work(tx: Tx) -> list[int]:
        tx.add_rows(_ADD, _large(2))
        tx.add_rows(_ADD, _large(3))
        # It has to be described first.
        return [row[0] for row in tx.rows("SELECT count(*) + 1 FROM events", {})]

    assert vault.write(work) == [6]
    vault.write(lambda tx: tx.add_rows(_ADD, _large(2)))
    assert [row[0] for row in vault.read(lambda tx: tx.rows(_ALL, {}))] == list(range(1, 8))


def test_a_large_row_that_is_refused_is_told_before_the_commit(vault: Database) -> None:
    key = "INSERT INTO meta (name, value) VALUES (:name, :value)"

    def work(tx: Tx) -> None:
        tx.add_rows(key, [{"name": name, "value": "x" * 50_000} for name in ("a", "a")])
        tx.add_rows(_ADD, [_event(1)])

    with pytest.raises(StorageError, match="UniqueViolation"):
        vault.write(work)
    assert vault.read(lambda tx: tx.rows(_ALL, {})) == []
    vault.write(lambda tx: tx.add_rows(key, [{"name": name, "value": "x" * 50_000} for name in ("a", "b")]))


def test_work_that_fails_while_the_server_writes_large_rows_leaves_none(vault: Database) -> None:
    def work(tx: Tx) -> None:
        tx.add_rows(_ADD, _large(3))
        raise InvalidInput("no")

    with pytest.raises(InvalidInput, match="no"):
        vault.write(work)
    assert vault.read(lambda tx: tx.rows(_ALL, {})) == []
    assert vault.write(lambda tx: tx.add_rows(_ADD, _large(1)))


def test_a_column_without_an_array_is_named() -> None:
    with pytest.raises(StorageError, match="type 23 cannot be sent"):
        row_arrays.array_of(23)


@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO a (b) SELECT :b", "INSERT INTO a (b) VALUES (:b) ON CONFLICT (b) DO UPDATE SET b = :c"],
)
def test_a_statement_of_another_form_is_refused(sql: str) -> None:
    with pytest.raises(ValueError, match="one list of VALUES"):
        to_postgres_rows(sql, ["int8"], in_vault=True)
