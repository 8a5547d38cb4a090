"""A writer may die at any instruction: what it was told was written is there, and nothing is there by half."""

from pathlib import Path

import pytest

from tests.crashes.killing import kill_writers

pytestmark = pytest.mark.process

_SEED = 20261115


@pytest.mark.feature("G18")
@pytest.mark.feature("M7")
def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path: Path) -> None:
    toll = kill_writers(tmp_path, kills=26, seed=_SEED)
    print(f"seed {_SEED}: {toll.line()}")
    assert not toll.lost, toll.lost[:5]
    assert not toll.half, toll.half[:5]
    # Without these the kills could all have come too early, or never in the middle of a call.
    assert toll.acknowledged >= 2 * toll.kills
    assert toll.in_flight >= toll.kills // 4
