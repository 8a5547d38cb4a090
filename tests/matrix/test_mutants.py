"""The matrix notices mistakes: each planted one is caught, and the code as it stands is not accused."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollectum
from tests.matrix.homes import quick_folder
from tests.matrix.mutants import MUTANTS, Patch
from tests.matrix.runner import CAUGHT
from tests.matrix.world import build

pytestmark = [pytest.mark.process, pytest.mark.slow]

_ROOT = Path(__file__).parents[2]
_SOURCE = Path(recollectum.__file__).parent


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    """Built by the code as it stands: a mutant gets to read it, not to make it."""
    with quick_folder() as folder:
        build(folder)
        yield folder


def run_matrix(
    world: Path, patches: tuple[Patch, ...], runner: str = "tests.matrix.runner", *first: str
) -> subprocess.CompletedProcess[str]:
    """Run every check, the named ones first, against a copy of the package with the patches applied."""
    with quick_folder() as folder:
        return _run_matrix(world, folder, patches, runner, first)


def _plant(package: Path, patch: Patch) -> None:
    place = package / patch.where
    files = {path: path.read_text(encoding="utf-8") for path in ([place] if place.is_file() else place.rglob("*.py"))}
    having = [path for path, text in files.items() if patch.old in text]
    assert sum(text.count(patch.old) for text in files.values()) == 1, f"{patch} is not there once; write it anew"
    having[0].write_text(files[having[0]].replace(patch.old, patch.new), encoding="utf-8")


def _run_matrix(
    world: Path, folder: Path, patches: tuple[Patch, ...], runner: str, first: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    package = folder / "package" / "recollectum"
    shutil.copytree(_SOURCE, package)
    for patch in patches:
        _plant(package, patch)
    scratch = folder / "scratch"
    scratch.mkdir()
    path = os.pathsep.join([str(package.parent), str(_ROOT), os.environ["PYTHONPATH"]])
    return subprocess.run(
        [sys.executable, "-m", runner, str(world), str(scratch), *first],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def test_the_code_as_it_stands_is_not_accused(world: Path) -> None:
    run = run_matrix(world, ())
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.feature("P7")
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_mistake_is_caught(world: Path, mutant: str) -> None:
    run = run_matrix(world, MUTANTS[mutant])
    assert run.returncode == CAUGHT, run.stdout + run.stderr


def test_there_are_enough_mistakes() -> None:
    assert len(MUTANTS) >= 20
