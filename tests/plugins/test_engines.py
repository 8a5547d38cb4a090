"""Tests run on both engines, but for those that are listed with a reason and exist."""

from pathlib import Path

import pytest

from tests.plugins import pgbouncer
from tests.plugins.engines import BOTH, FILES_ALONE, SQLITE, current_engine

_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("place", FILES_ALONE)
def test_an_exception_names_a_test_of_a_folder_that_runs_on_both(place: str) -> None:
    file, _, name = place.partition("::")
    assert place.startswith(BOTH)
    assert f"def {name}(" in (_ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("place", pgbouncer.DIRECT_ALONE)
def test_an_exception_of_the_pooler_names_a_test(place: str) -> None:
    file, _, name = place.partition("::")
    assert f"def {name}(" in (_ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("folder", [*BOTH, *pgbouncer.CHOSEN])
def test_a_folder_that_is_named_has_tests(folder: str) -> None:
    assert (_ROOT / folder).is_file() or list((_ROOT / folder).glob("test_*.py"))


def test_any_other_test_runs_on_sqlite(engine: str) -> None:
    assert engine == current_engine() == SQLITE
