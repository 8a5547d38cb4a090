"""Each example is short, runs, recalls across two conversations, and shows one person nothing of another."""

import re
import runpy
from pathlib import Path

import pytest

from tests.adapters.test_imports import FRAMEWORKS
from tests.agents.sdk import claude_on_path

#: Programs with a client library instead of a framework are tested with a server, in `tests/journeys`.
EXAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "examples").glob("*.py")
    if not path.stem.endswith(("_agent", "_agent_async"))
)
MOST_LINES = 40

pytestmark = [pytest.mark.process, pytest.mark.loopback]


#: Tasks are not memories: there is nothing to recall.
WITHOUT = {"a2a"}


def test_every_adapter_has_one() -> None:
    shown = {name for path in EXAMPLES for name in re.findall(r"recollectum\.adapters\.(\w+)", path.read_text("utf-8"))}
    adapters = {name.rpartition(".")[2] for name in FRAMEWORKS}
    assert adapters - shown == WITHOUT


#: Starts a program that asks its model over a socket; all others have their model in the process.
WITH_A_PROGRAM = "claude_agent_memory"


# LlamaIndex looks at every attribute of an agent, and Pydantic warns of its older ones.
@pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecatedSince20")
@pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecatedSince211")
@pytest.mark.parametrize(
    "example", [path for path in EXAMPLES if path.stem != WITH_A_PROGRAM], ids=lambda path: path.stem
)
def test_an_example_recalls_for_one_person_and_not_for_another(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recalls_for_ann_alone(example, capsys)


@pytest.mark.loopback
def test_the_example_that_starts_a_program_recalls_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = [path for path in EXAMPLES if path.stem == WITH_A_PROGRAM]
    with claude_on_path(monkeypatch):
        _recalls_for_ann_alone(example, capsys)


def _recalls_for_ann_alone(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(example.read_text("utf-8").splitlines()) < MOST_LINES
    runpy.run_path(str(example), run_name="__main__")
    told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert "teal" in told["ann/2"]
    assert "teal" not in told["bob/1"]
