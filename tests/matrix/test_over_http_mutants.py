"""The matrix of the doors notices mistakes: each planted one is caught, and the code as it stands is not accused.

Each takes seconds, so that an ordinary run plants every other one, and RECOLLECTUM_MUTANTS=all plants them all.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import quick_folder
from tests.matrix.over_http_mutants import LIKELY, MUTANTS
from tests.matrix.over_http_world import furnish
from tests.matrix.runner import CAUGHT
from tests.matrix.test_mutants import run_matrix

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.slow]
_RUNNER = "tests.matrix.over_http_runner"
_CHOSEN = list(MUTANTS)[:: 1 if os.environ.get("RECOLLECTUM_MUTANTS") == "all" else 2]


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    """Built by the code as it stands: a mutant gets to read it, not to make it."""
    with quick_folder() as folder:
        furnish(folder)
        yield folder


def test_the_code_as_it_stands_is_not_accused(world: Path) -> None:
    run = run_matrix(world, (), _RUNNER)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.feature("P7")
@pytest.mark.parametrize("mutant", _CHOSEN)
def test_a_planted_mistake_is_caught(world: Path, mutant: str) -> None:
    first = next(names for group, names in LIKELY if mutant in group)
    run = run_matrix(world, MUTANTS[mutant], _RUNNER, *first)
    assert run.returncode == CAUGHT, run.stdout + run.stderr
    print(run.stdout)


def test_there_are_enough_mistakes() -> None:
    assert len(_CHOSEN) >= 20
