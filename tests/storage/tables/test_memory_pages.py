"""Memories are listed by the state that a reader sees, as the life cycle decides it, and by an index."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from recollectum.domain.ids import system_clock
from recollectum.domain.memory import Kind, Memory, State
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import due_at, state_at
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.content import memories, memory_pages

pytestmark = pytest.mark.feature("M3")
_NOW = datetime(2026, 5, 1, tzinfo=UTC)
_TIMES = (None, _NOW - timedelta(days=2), _NOW + timedelta(days=2))
_READINGS = (certain_reading(_NOW), ClockReading(_NOW, _NOW - timedelta(days=5)))
_LISTED = (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "vault.db", SqliteOptions())
    migrate(made, shipped(VAULT), clock=system_clock, backup=lambda _: None)
    yield made
    made.close()


def _add(tx: Tx, number: int, content: str = "x", **fields: object) -> Memory:
    memory = Memory(id=f"mem_{number:026}", content=content, created_at=_NOW, updated_at=_NOW, author="me", **fields)  # pyright: ignore[reportArgumentType]
    memories.insert(tx, memory, f"mark:{number}", due_at(memory))
    return memory


def _every_case(tx: Tx) -> list[Memory]:
    """One memory for each state with each deadline missing, passed or ahead."""
    cases = product((*_LISTED, State.HARD_DELETE_PENDING), _TIMES, _TIMES, _TIMES, _TIMES)
    texts = ("It rained", "My boss is Anna")
    return [
        _add(
            tx,
            number,
            texts[number % 2],
            state=state,
            kind=list(Kind)[number % 7],
            expires_at=expires,
            archive_at=archive,
            retention_expires_at=retained,
            hard_delete_at=destroyed,
        )
        for number, (state, expires, archive, retained, destroyed) in enumerate(cases)
    ]


@pytest.mark.parametrize("reading", _READINGS, ids=["a sure clock", "a doubtful clock"])
@pytest.mark.parametrize("kind", [None, Kind.FACT])
def test_a_page_holds_what_the_life_cycle_puts_in_that_state(
    database: SqliteDatabase, reading: ClockReading, kind: Kind | None
) -> None:
    every = database.write(_every_case)
    for state in _LISTED:
        wanted = [one.id for one in reversed(every) if state_at(one, reading) is state and kind in (None, one.kind)]
        found = database.read(
            lambda tx, state=state: memory_pages.page(tx, state, reading, limit=len(every), kind=kind)
        )
        assert [one.id for one in found] == wanted
        assert wanted


@pytest.mark.parametrize("state", _LISTED)
def test_pages_by_cursor_are_the_whole_list(database: SqliteDatabase, state: State) -> None:
    every = database.write(_every_case)
    wanted = [one.id for one in reversed(every) if state_at(one, _READINGS[0]) is state]
    found: list[str] = []
    while True:
        cursor = found[-1] if found else None
        page = database.read(
            lambda tx, cursor=cursor: memory_pages.page(tx, state, _READINGS[0], limit=7, cursor=cursor)
        )
        if not page:
            break
        found += [one.id for one in page]
    assert found == wanted


def test_a_cursor_of_a_destroyed_memory_goes_on_after_it(database: SqliteDatabase) -> None:
    made = database.write(lambda tx: [_add(tx, number) for number in range(5)])
    database.write(lambda tx: memories.delete(tx, made[3]))
    found = database.read(lambda tx: memory_pages.page(tx, State.ACTIVE, _READINGS[0], limit=9, cursor=made[3].id))
    assert [one.id for one in found] == [one.id for one in reversed(made[:3])]
    assert not database.read(lambda tx: memory_pages.page(tx, State.ACTIVE, _READINGS[0], limit=9, cursor="mem_"))


def test_many_keys_of_a_prefix_are_listed_as_few_are(database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    database.write(lambda tx: [_add(tx, number, key=f"place_{number % 10}{number}") for number in range(30)])
    database.write(lambda tx: _add(tx, 30, key="other"))
    few = database.read(lambda tx: _keys(tx))
    monkeypatch.setattr(memory_pages, "_SORTED_KEYS", 5)
    assert few == database.read(lambda tx: _keys(tx)) == [f"mem_{number:026}" for number in range(29, 9, -1)]


def _keys(tx: Tx) -> list[str]:
    found = memory_pages.page(tx, State.ACTIVE, _READINGS[0], limit=20, key_prefix="place_")
    return [one.id for one in found]


def test_a_page_finds_active_memories_behind_many_newer_ones_that_are_not(database: SqliteDatabase) -> None:
    def fill(tx: Tx) -> list[Memory]:
        old = [_add(tx, number) for number in range(4)]
        for number in range(10, 60):
            _add(tx, number, state=State.ARCHIVED)
        return [*old, _add(tx, 90)]

    made = database.write(fill)
    for limit in (1, 2, 5, 20):
        found = database.read(lambda tx, limit=limit: memory_pages.page(tx, State.ACTIVE, _READINGS[0], limit=limit))
        assert [one.id for one in found] == [one.id for one in reversed(made)][:limit]


def test_a_page_of_the_newest_rows_walks_them_in_their_order(database: SqliteDatabase) -> None:
    values = {"before": 9, "limit": 9, "now": 1, "policy_now": 1, "walked": 36}
    plan = database.read(lambda tx: tx.rows("EXPLAIN QUERY PLAN " + memory_pages.RECENT, values))
    steps = [row[3] for row in plan]
    assert steps[0].startswith("SEARCH memories USING INTEGER PRIMARY KEY"), steps
    assert not [step for step in steps if "TEMP B-TREE" in step]


@pytest.mark.parametrize("state", _LISTED)
@pytest.mark.parametrize("kinds", [tuple(Kind), (Kind.TASK,)])
def test_a_page_reads_an_index_and_sorts_only_what_it_shows(
    database: SqliteDatabase, state: State, kinds: tuple[Kind, ...]
) -> None:
    values = {"before": 9, "limit": 9, "now": 1, "policy_now": 1}
    plan = database.read(lambda tx: tx.rows("EXPLAIN QUERY PLAN " + memory_pages.newest(state, kinds), values))
    steps = [row[3] for row in plan if " memories" in row[3]]
    allowed = (
        "USING COVERING INDEX memories_listed",
        "USING INDEX memories_listed",
        "INDEX memories_due",
        "PRIMARY KEY",
    )
    assert steps
    assert all(step.startswith("SEARCH") and any(one in step for one in allowed) for step in steps), steps


def test_only_memories_that_may_tell_of_contacts_are_read_for_them(database: SqliteDatabase) -> None:
    def fill(tx: Tx) -> None:
        _add(tx, 1, "It rained in ticket 1234567")
        _add(tx, 2, "My boss is Anna")
        _add(tx, 3, "Anna Berg: +49 170 5551234")

    database.write(fill)
    found = database.read(memory_pages.about_people)
    assert [memory.content for _, memory in found] == ["My boss is Anna", "Anna Berg: +49 170 5551234"]
    database.write(lambda tx: memory_pages.mark_without_contacts(tx, [(2, 1), (3, 7)]))
    # The second was read at another version than it has.
    assert [number for number, _ in database.read(memory_pages.about_people)] == [3]
