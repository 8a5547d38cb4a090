"""The matrix over the command line: every rule is kept, and a planted mistake is noticed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import copy_home, quick_folder
from tests.matrix.over_cli_checks import CLI_CHECKS
from tests.matrix.over_cli_mutants import MUTANTS
from tests.matrix.runner import CAUGHT
from tests.matrix.test_mutants import run_matrix
from tests.matrix.world import build

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    """Built once, and copied for each rule."""
    with quick_folder() as folder:
        build(folder)
        yield folder


@pytest.mark.feature("P7")
@pytest.mark.parametrize("name", CLI_CHECKS)
def test_a_rule_is_kept(world: Path, tmp_path: Path, name: str) -> None:
    assert not list(CLI_CHECKS[name](copy_home(world, tmp_path / "copy")))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_mistake_is_caught(world: Path, mutant: str) -> None:
    run = run_matrix(world, MUTANTS[mutant], "tests.matrix.over_cli_runner")
    assert run.returncode == CAUGHT, run.stdout + run.stderr
    print(run.stdout)
