"""The benchmark of what must and must not be recalled, on a set of three beliefs."""

from pathlib import Path

import pytest

from bench.precision import Judged, line, run
from tests.bench.beliefs import write_beliefs

pytestmark = pytest.mark.process


def test_what_is_found_and_what_is_served_all_the_same_is_counted(tmp_path: Path) -> None:
    judged = run(write_beliefs(tmp_path), "none")
    # The third case bars a belief from one section and demands it in another, so recall may serve it.
    demanded = Judged(None, None, 0, 0)
    assert judged == [Judged(1.0, 1.0, 0, 2), Judged(None, None, 1, 1), demanded, Judged(0.0, None, 0, 0)]
    assert line(judged) == "| 4 | 0.500 | 1.000 | 3 | 1 |"
