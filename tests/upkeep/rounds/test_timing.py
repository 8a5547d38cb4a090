"""When a round is due: never while nothing happened, always when something did, and later after each failure."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollectum.storage.tables.catalog.rounds import RoundRow
from recollectum.upkeep.rounds.timing import AT_LATEST, is_due, next_look, retry_at

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def row(*, seen: str = "as it was", failures: int = 0, next_in: timedelta = AT_LATEST) -> RoundRow:
    return RoundRow(
        name="retention",
        vault="vlt_1",
        every_seconds=60,
        started_at=NOW,
        finished_at=NOW,
        next_at=NOW + next_in,
        failures=failures,
        seen=seen,
    )


def test_a_vault_that_was_never_looked_at_is_due() -> None:
    assert is_due(None, NOW, "anything")


def test_a_vault_nobody_wrote_to_waits_for_its_time() -> None:
    assert not is_due(row(), NOW + AT_LATEST - MINUTE, "as it was")
    assert is_due(row(), NOW + AT_LATEST, "as it was")


def test_a_vault_somebody_wrote_to_waits_for_the_interval() -> None:
    assert not is_due(row(), NOW + MINUTE / 2, "another")
    assert is_due(row(), NOW + MINUTE, "another")


def test_after_a_failure_only_time_counts() -> None:
    failed = row(failures=2, next_in=2 * MINUTE)
    assert not is_due(failed, NOW + MINUTE, "another")
    assert is_due(failed, NOW + 2 * MINUTE, "as it was")


def test_a_clock_that_was_set_back_stops_nothing() -> None:
    assert is_due(row(), NOW - timedelta(days=300), "as it was")


@given(failures=st.integers(1, 10_000), seconds=st.floats(0.05, 86_400))
def test_a_retry_comes_later_each_time_and_never_much_later_than_the_round(failures: int, seconds: float) -> None:
    every = timedelta(seconds=seconds)
    first, second = (retry_at(NOW, every, count) - NOW for count in (failures, failures + 1))
    assert every <= first <= second <= max(every, timedelta(hours=1))


@given(seconds=st.floats(0.05, 86_400), wanted=st.none() | st.integers(-10_000, 1_000_000))
def test_the_next_look_is_neither_at_once_nor_never(seconds: float, wanted: int | None) -> None:
    every = timedelta(seconds=seconds)
    at = next_look(NOW, every, None if wanted is None else NOW + timedelta(seconds=wanted))
    assert NOW + every <= at <= NOW + max(every, AT_LATEST)
