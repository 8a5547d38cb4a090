"""Laws of the life cycle: the decision, the table, the sweep, the preview and what recall serves agree."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.domain.errors import StepRefused
from recollectum.domain.event import EventType
from recollectum.domain.memory import STEPS, Memory, State
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import Retention, due_at, due_step, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.times import micros_or_none
from recollectum.vault.intake.draft import Draft
from recollectum.vault.retention.lifecycle import DueMove
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, copy_home, open_home, quick_folder

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
OWNER = "user:alice"
TIMES = st.integers(-100, 100).map(lambda hours: START + timedelta(hours=hours))
MAYBE = st.none() | TIMES
STATES = st.sampled_from([state for state in State if state is not State.PURGED])
RULES = st.builds(
    Retention,
    active=st.none() | st.integers(0, 9).map(lambda days: days * DAY),
    archived=st.none() | st.integers(0, 9).map(lambda days: days * DAY),
    grace=st.integers(0, 9).map(lambda days: days * DAY),
)
MEMORIES = st.builds(
    Memory,
    id=st.just("mem_1"),
    content=st.just("zebra"),
    created_at=st.just(START),
    updated_at=st.just(START),
    state=STATES,
    superseded_by=st.none() | st.just("mem_2"),
    valid_to=MAYBE,
    archive_at=MAYBE,
    retention_expires_at=MAYBE,
    expires_at=MAYBE,
    deleted_at=MAYBE,
    hard_delete_at=TIMES,
)


@st.composite
def readings(draw: st.DrawFn) -> ClockReading:
    """The wall's time, and a believed time that is not after it."""
    now = draw(TIMES)
    return ClockReading(now, now - timedelta(hours=draw(st.sampled_from([0, 1, 50, 300]))))


READINGS = readings()


@given(MEMORIES, READINGS)
@pytest.mark.feature("M1")
def test_what_is_due_is_a_step_of_the_table(memory: Memory, reading: ClockReading) -> None:
    step = due_step(memory, reading)
    assert step is None or step.to in STEPS[memory.state]


@given(MEMORIES, READINGS)
@pytest.mark.feature("M3")
def test_a_step_names_the_time_that_made_it_due(memory: Memory, reading: ClockReading) -> None:
    step = due_step(memory, reading)
    if step:
        assert step.at == getattr(memory, step.because)
        assert step.at is not None
        assert step.at <= reading.now or memory.state is State.HARD_DELETE_PENDING


@given(MEMORIES, TIMES)
def test_the_sweep_looks_at_a_memory_exactly_when_something_is_due(memory: Memory, now: datetime) -> None:
    first = due_at(memory)
    if memory.state is not State.HARD_DELETE_PENDING:
        assert (due_step(memory, certain_reading(now)) is not None) == (first is not None and first <= now)


@given(MEMORIES, READINGS, st.integers(0, 400))
def test_a_state_that_was_seen_is_never_younger_later(memory: Memory, reading: ClockReading, hours: int) -> None:
    later = ClockReading(reading.now + timedelta(hours=hours), reading.policy_now + timedelta(hours=hours))
    order = list(State)
    assert order.index(state_at(memory, later)) >= order.index(state_at(memory, reading))


@given(MEMORIES, READINGS)
def test_what_is_seen_rests(memory: Memory, reading: ClockReading) -> None:
    seen = state_at(memory, reading)
    assert state_at(replace(memory, state=seen), reading) is seen


@given(MEMORIES, st.sampled_from(list(State)), TIMES, RULES)
@pytest.mark.feature("M1")
def test_no_step_skips_the_table(memory: Memory, to: State, now: datetime, rules: Retention) -> None:
    if to is memory.state or to in STEPS[memory.state]:
        assert enter(memory, to, now, rules).state is to
    else:
        with pytest.raises(StepRefused):
            enter(memory, to, now, rules)


@given(MEMORIES, st.sampled_from([State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED]), TIMES)
@pytest.mark.feature("M2")
def test_what_enters_a_state_rests_in_it(memory: Memory, to: State, now: datetime) -> None:
    # What enters the archive because its time had come keeps the deadline it had, which may have passed as well.
    late = to is State.ARCHIVED and memory.archive_at is not None and memory.archive_at <= now
    if to in STEPS[memory.state] and not late:
        entered = replace(enter(memory, to, now, Retention()), expires_at=None)
        assert due_step(entered, certain_reading(now)) is None


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A home with one empty vault, to be copied for each example."""
    with quick_folder() as folder:
        # Long before any time that is drawn, so that no vault has seen a later one.
        with open_home(folder / "template", Turning(START - 1000 * DAY)) as home:
            home.vault(OWNER)
        yield folder / "template"


_TAMPER = """
    UPDATE memories SET state = :state, superseded_by = :superseded_by, valid_to = :valid_to, archive_at = :archive_at,
        retention_expires_at = :retention_expires_at, expires_at = :expires_at, hard_delete_at = :hard_delete_at
     WHERE id = :id
"""
_TIMES = ("valid_to", "archive_at", "retention_expires_at", "expires_at", "hard_delete_at")


def _put(vault: Vault, drawn: list[Memory]) -> list[Memory]:
    """Rows as they were drawn, in the index whatever their state: recall must not rely on its having been kept up."""
    saved = [
        one.memory
        for one in vault.memories.save_many([Draft(content=f"zebra {number}") for number, _ in enumerate(drawn)])
    ]
    kept = [replace(memory, id=row.id) for memory, row in zip(drawn, saved, strict=True)]

    def change(tx: Tx) -> None:
        for memory in kept:
            times = {name: micros_or_none(getattr(memory, name)) for name in _TIMES}
            tx.run(_TAMPER, {"id": memory.id, "state": memory.state, "superseded_by": memory.superseded_by, **times})

    vars(vault)["_runtime"].database.write(change)
    return kept


@given(st.lists(MEMORIES, min_size=1, max_size=8), READINGS)
@settings(max_examples=100)
@pytest.mark.feature("M5")
def test_recall_serves_exactly_what_is_active(template: Path, drawn: list[Memory], reading: ClockReading) -> None:
    clock = Turning(reading.policy_now)
    rules = {"lifecycle.clock_leap_days": 1}
    with quick_folder() as folder, open_home(copy_home(template, folder / "it"), clock, settings=rules) as home:
        vault = home.vault(OWNER)
        kept = _put(vault, drawn)
        # More than a day ahead is a leap, which holds the policy's time where it was.
        clock.now = reading.now
        believed = reading if reading.now - reading.policy_now > DAY else certain_reading(reading.now)
        served = {hit.source.memory_id for hit in vault.recall("zebra", limit=100)}
        assert served == {memory.id for memory in kept if _is_current(memory, believed)}


def _is_current(memory: Memory, reading: ClockReading) -> bool:
    valid = memory.valid_to is None or memory.valid_to > reading.now
    return valid and memory.superseded_by is None and state_at(memory, reading) is State.ACTIVE


#: Short periods, in whole days like everything drawn here, so that a sweep a day meets every deadline on time.
PERIODS = {"lifecycle.active_days": 10, "lifecycle.archive_days": 5, "lifecycle.grace_days": 3}
LIVES = st.lists(
    st.tuples(st.sampled_from(["keep", "archive", "forget"]), st.none() | st.integers(1, 25)), min_size=1, max_size=6
)


def _live(home: Recollectum, lives: list[tuple[str, int | None]]) -> Vault:
    vault = home.vault(OWNER)
    for number, (end, ttl) in enumerate(lives):
        memory = vault.memories.save(f"thing {number}", ttl=ttl * DAY if ttl else None).memory
        if end == "archive":
            vault.memories.move(memory.id, "archived")
        elif end == "forget":
            vault.memories.forget(memory.id)
    return vault


def _taken(vault: Vault) -> list[tuple[str, State, datetime]]:
    told = vault.admin.events.list(limit=1000)
    steps = [event for event in told if event.actor == "lifecycle" and event.state]
    return sorted((event.subject_id, event.state, event.at) for event in steps if event.state)


def _shown(moves: list[DueMove]) -> list[tuple[str, State, datetime]]:
    return sorted((move.memory_id, move.after, move.at) for move in moves)


@given(LIVES, st.integers(1, 30))
@settings(max_examples=30)
@pytest.mark.feature("M2")
@pytest.mark.feature("M4")
def test_preview_shows_what_daily_sweeps_then_do(
    template: Path, lives: list[tuple[str, int | None]], days: int
) -> None:
    clock = Turning()
    with quick_folder() as folder, open_home(copy_home(template, folder / "it"), clock, settings=PERIODS) as home:
        vault = _live(home, lives)
        shown = vault.admin.lifecycle.preview(START + days * DAY)
        for _ in range(days):
            clock.turn(DAY)
            vault.admin.lifecycle.run()
        assert _shown(shown) == _taken(vault)


@given(LIVES, st.integers(0, 40))
@settings(max_examples=30)
@pytest.mark.feature("M7")
def test_a_sweep_done_twice_is_a_sweep_done_once(
    template: Path, lives: list[tuple[str, int | None]], days: int
) -> None:
    clock = Turning()
    with quick_folder() as folder, open_home(copy_home(template, folder / "it"), clock, settings=PERIODS) as home:
        vault = _live(home, lives)
        clock.turn(days * DAY)
        before = vault.admin.totals().memories
        report = vault.admin.lifecycle.run()
        after = [vault.memories.list(state=state) for state in ("active", "archived", "soft_deleted")]
        events = vault.admin.events.list(limit=1000)
        again = vault.admin.lifecycle.run()
        assert not again.any()
        assert [vault.memories.list(state=state) for state in ("active", "archived", "soft_deleted")] == after
        assert vault.admin.events.list(limit=1000) == events
        assert vault.admin.index.verify().sound
        assert sum(before.values()) - report.purged == sum(vault.admin.totals().memories.values())
        assert sum(event.type is EventType.PURGED for event in events) == report.purged


@given(st.integers(1, 20 * 24))
@settings(max_examples=20)
@pytest.mark.feature("M8")
def test_a_memory_is_restored_inside_its_grace_window_and_refused_after_it(template: Path, hours: int) -> None:
    clock = Turning()
    with quick_folder() as folder, open_home(copy_home(template, folder / "it"), clock) as home:
        vault = home.vault(OWNER)
        memory = vault.memories.save("thing").memory
        vault.memories.forget(memory.id)
        clock.turn(timedelta(hours=hours))
        if hours < 7 * 24:
            assert vault.memories.move(memory.id, "active").state is State.ACTIVE
            assert vault.recall("thing")
        else:
            with pytest.raises(StepRefused):
                vault.memories.move(memory.id, "active")
            assert not vault.recall("thing")
