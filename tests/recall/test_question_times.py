"""The event that a question names is looked up in a limited number of matches."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.million import counted
from bench.million_vault import fill
from recollectum.policy.clock import ClockReading
from recollectum.recall.question_times import NamedTime, named_times
from recollectum.storage.port import Tx
from recollectum.storage.tables.index.search_filters import Filters
from tests.crashes.homes import only_vault

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _times(tx: Tx, filters: Filters) -> list[NamedTime]:
    params = filters.params(tx, ClockReading(now=_NOW, policy_now=_NOW))
    return named_times(tx, "What happened after the soup?", _NOW, params)


def _steps(home: Path, filters: Filters) -> int:
    """Count the steps of SQLite for a question, once the lengths of the chunks are loaded."""
    with counted() as steps, only_vault(home) as database:
        assert database.read(lambda tx: _times(tx, Filters()))
        before = steps.total
        assert not database.read(lambda tx: _times(tx, filters))
        return steps.total - before


@pytest.mark.feature("G11")
@pytest.mark.slow
def test_an_event_that_is_mentioned_everywhere_but_where_it_is_sought_takes_a_limited_time(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    fill(small, 16_000)
    fill(large, 48_000)
    nowhere = Filters(speaker="Nobody")
    assert _steps(large, nowhere) < 1.5 * _steps(small, nowhere)
