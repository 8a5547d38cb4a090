"""The next time of a round: neither at once nor never, and later after each failure."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollectum.upkeep.rounds.timing import AT_LATEST, next_look, retry_at

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


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
