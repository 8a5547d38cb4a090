"""Every benchmark runs to its end in small, so that none rots between two releases."""

import os
import subprocess
import sys

import pytest

from bench.__main__ import FOLDER, benchmarks
from bench.sizes import VARIABLE
from tests.shape.source import ROOT

pytestmark = [pytest.mark.process, pytest.mark.loopback, pytest.mark.slow]

#: What a benchmark must have measured, besides a number.
SAYS = {
    "adapters": (
        *("LangGraph store", "LangGraph checkpointer", "OpenAI session", "ADK memory", "ADK sessions", "mem0"),
        *("Anthropic memory tool", "LlamaIndex chat store", "Pydantic AI store", "A2A task store", "not compared"),
    )
}
#: What another test of the suite runs already.
ELSEWHERE = {"bar": "tests/bar"}


@pytest.mark.parametrize("name", sorted(benchmarks(FOLDER).keys() - ELSEWHERE.keys()))
def test_a_benchmark_runs_in_small(name: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bench", name],
        cwd=ROOT,
        env={**os.environ, VARIABLE: "small"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert any(character.isdigit() for character in ran.stdout), "it measured nothing"
    assert [word for word in SAYS.get(name, ()) if word not in ran.stdout] == []
