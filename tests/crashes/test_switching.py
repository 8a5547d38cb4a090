"""A small change of model under questions and kills; `python -m bench switch` does it on a large vault."""

from pathlib import Path

import pytest

from tests.crashes.switching import ModelChange, switch

pytestmark = pytest.mark.process

_SEED = 20261115


@pytest.mark.feature("G16")
@pytest.mark.feature("G17")
@pytest.mark.feature("G6")
def test_a_change_of_model_under_questions_and_kills_costs_nothing(tmp_path: Path) -> None:
    toll = switch(tmp_path, count=300, kills=2, seed=_SEED, askers=(False, True), models=ModelChange(delay=0.03))
    assert toll.clean, toll
    assert toll.rungs.get("hybrid", 0) >= 1
