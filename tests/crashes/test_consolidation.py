"""Consolidation killed at each of its statements: every fact is there once, whatever happened."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes.programs import run
from tests.matrix.homes import quick_folder

pytestmark = pytest.mark.process

#: Statements of one consolidation; fewer would mean that the kills miss most of it.
_FEWEST = 50


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.mark.feature("A8")
def test_a_kill_at_any_statement_neither_loses_nor_doubles_a_fact(place: Path) -> None:
    told = json.loads(run("tests.crashes.consolidating_program", str(place))[-1])
    assert told["points"] >= _FEWEST
    assert told["kills"] >= told["points"]
    assert told["wrong"] == []
