"""Laws of asking again: how often, how long, and for which errors."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import ModelError, ModelMissing, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.models.embedder import Purpose
from recollectum.models.limits.retry import RetryClock, RetryingEmbedder, RetryPolicy, backoff_seconds
from tests.models.hashing import HashingEmbedder

pytestmark = pytest.mark.slow

_SECONDS = st.floats(0, 100)
_PASSING = st.one_of(
    st.builds(ModelTimeout, st.just("late")),
    st.builds(ModelUnavailable, st.just("busy"), retry_after_seconds=st.none() | _SECONDS),
)
_LASTING = st.sampled_from([ModelRefused, ModelMissing]).map(lambda kind: kind("no"))
_PATIENCE = st.builds(
    RetryPolicy,
    attempts=st.integers(1, 6),
    first_seconds=st.floats(0.01, 2),
    longest_seconds=st.floats(0.01, 10),
    total_seconds=st.floats(0, 100),
)


@dataclass
class Time:
    """A clock that moves only when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list[float])

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def attempt(
    patience: RetryPolicy, failures: list[ModelError], chance: float
) -> tuple[HashingEmbedder, Time, ModelError | None]:
    """Embed one text through these failures: the embedder that was asked, the time spent, and the error raised."""
    time, inner = Time(), HashingEmbedder(failures)
    pauses = RetryClock(lambda: time.now, time.sleep, lambda: chance)
    embedder = RetryingEmbedder(inner, passages=patience, queries=RetryPolicy(attempts=1), pauses=pauses)
    try:
        assert embedder.embed(["text"], Purpose.PASSAGE).shape == (1, 8)
    except ModelError as error:
        return inner, time, error
    return inner, time, None


@given(patience=_PATIENCE, failures=st.lists(_PASSING | _LASTING, max_size=8), chance=st.floats(0, 1))
def test_what_is_asked_again_is_bounded_in_number_and_time(
    patience: RetryPolicy, failures: list[ModelError], chance: float
) -> None:
    inner, time, error = attempt(patience, failures, chance)
    asked = len(inner.calls)
    assert 1 <= asked <= patience.attempts
    assert len(time.slept) == asked - 1
    assert sum(time.slept) <= patience.total_seconds
    # It ends with success, or with the very failure that the last attempt met.
    assert error is (failures[asked - 1] if asked <= len(failures) else None)
    # Before that came only what may pass.
    assert not [one for one in failures[: asked - 1] if isinstance(one, ModelRefused | ModelMissing)]


@given(patience=_PATIENCE, failures=st.lists(_PASSING, max_size=8), chance=st.floats(0, 1))
def test_each_pause_is_at_least_what_was_asked_for_and_otherwise_within_its_bounds(
    patience: RetryPolicy, failures: list[ModelError], chance: float
) -> None:
    _, time, _ = attempt(patience, failures, chance)
    for number, (slept, failure) in enumerate(zip(time.slept, failures, strict=False)):
        grown = min(patience.longest_seconds, patience.first_seconds * 2**number)
        asked = failure.retry_after_seconds if isinstance(failure, ModelUnavailable) else None
        assert slept >= max(asked or 0, grown / 2)
        assert slept <= max(asked or 0, grown)


@given(patience=_PATIENCE, failures=st.lists(_PASSING, max_size=5))
def test_enough_attempts_and_time_always_arrive(patience: RetryPolicy, failures: list[ModelError]) -> None:
    patient = RetryPolicy(attempts=len(failures) + 1, first_seconds=patience.first_seconds, total_seconds=10_000)
    _, _, error = attempt(patient, failures, 0.5)
    assert error is None


@given(failure=_LASTING)
def test_what_lasts_is_raised_at_once(failure: ModelError) -> None:
    inner, time, error = attempt(RetryPolicy(), [failure], 0.5)
    assert error is failure
    assert len(inner.calls) == 1
    assert not time.slept


@pytest.mark.parametrize("attempts", [1, 2, 50, 5000])
def test_pauses_stop_growing(attempts: int) -> None:
    assert backoff_seconds(RetryPolicy(), attempts, ModelTimeout("late"), 1.0) <= RetryPolicy().longest_seconds


def test_a_query_has_its_own_patience() -> None:
    inner = HashingEmbedder([ModelTimeout("late")])
    embedder = RetryingEmbedder(inner, passages=RetryPolicy(), queries=RetryPolicy(attempts=1))
    with pytest.raises(ModelTimeout):
        embedder.embed(["text"], Purpose.QUERY)
    assert len(inner.calls) == 1
    embedder.close()
    assert inner.closed
