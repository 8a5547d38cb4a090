"""Each example is short, runs, recalls across two conversations, and shows one person nothing of another."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
MOST_LINES = 40

pytestmark = pytest.mark.process


def test_there_is_one() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_recalls_for_one_person_and_not_for_another(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(example.read_text("utf-8").splitlines()) < MOST_LINES
    runpy.run_path(str(example), run_name="__main__")
    told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert "teal" in told["ann/2"]
    assert "teal" not in told["bob/1"]
