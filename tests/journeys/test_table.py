"""The table of what new users stumbled over has every row, and each test that it names is there."""

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGE = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_ROW = re.compile(r"^\| (\w+)\.? ?[^|]*\|", re.MULTILINE)


def test_every_finding_has_its_row() -> None:
    findings = _PAGE.partition("## What new users stumbled over")[2]
    assert {*map(str, range(1, 36)), "12b", "input", "console", "words", "stay"} <= set(_ROW.findall(findings))
    journeys = _PAGE.partition("## What new users stumbled over")[0]
    assert {*map(str, range(1, 11))} <= set(_ROW.findall(journeys))


@pytest.mark.parametrize(("file", "name"), sorted(set(_TEST.findall(_PAGE))))
def test_every_test_that_is_named_is_there(file: str, name: str) -> None:
    assert f"def {name}(" in (_ROOT / file).read_text(encoding="utf-8")
