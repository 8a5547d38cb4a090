"""When a growing transcript is read on: never for nothing, always after a rest, and no later for more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.vault.transcripts.watch import PendingData, ReadThresholds, is_read_due

pytestmark = pytest.mark.slow

COUNTS = st.integers(0, 10**7)
SECONDS = st.floats(0, 10**4)
WAITINGS = st.builds(PendingData, bytes=COUNTS, lines=COUNTS, rested_seconds=SECONDS)
DELTAS = st.builds(ReadThresholds, bytes=COUNTS, messages=COUNTS, debounce_seconds=SECONDS)
USUAL = ReadThresholds(bytes=100_000, messages=50, debounce_seconds=5.0)


@given(WAITINGS, DELTAS)
def test_nothing_new_is_never_due(waiting: PendingData, deltas: ReadThresholds) -> None:
    assert not is_read_due(replace(waiting, bytes=0), deltas)


@pytest.mark.feature("G13")
@given(WAITINGS, DELTAS)
def test_anything_new_is_due_after_its_rest(waiting: PendingData, deltas: ReadThresholds) -> None:
    rested = replace(waiting, bytes=waiting.bytes + 1, rested_seconds=deltas.debounce_seconds)
    assert is_read_due(rested, deltas)


@given(WAITINGS, DELTAS, COUNTS, COUNTS, SECONDS)
def test_more_is_due_no_later(waiting: PendingData, deltas: ReadThresholds, size: int, lines: int, rest: float) -> None:
    more = PendingData(
        bytes=waiting.bytes + size, lines=waiting.lines + lines, rested_seconds=waiting.rested_seconds + rest
    )
    assert is_read_due(more, deltas) or not is_read_due(waiting, deltas)


@given(WAITINGS, DELTAS)
def test_a_number_of_0_waits_for_the_rest(waiting: PendingData, deltas: ReadThresholds) -> None:
    due = is_read_due(waiting, replace(deltas, bytes=0, messages=0))
    assert due == (waiting.bytes > 0 and waiting.rested_seconds >= deltas.debounce_seconds)


@pytest.mark.feature("G13")
@pytest.mark.parametrize(
    ("size", "lines", "rest", "due"),
    [
        (99_999, 49, 4.9, False),
        (100_000, 0, 0.0, True),
        (1, 50, 0.0, True),
        (1, 0, 5.0, True),
        (0, 0, 99.0, False),
    ],
)
def test_the_usual_numbers(size: int, lines: int, rest: float, *, due: bool) -> None:
    assert is_read_due(PendingData(bytes=size, lines=lines, rested_seconds=rest), USUAL) == due
