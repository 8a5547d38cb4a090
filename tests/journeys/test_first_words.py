"""The first five minutes at the command line: init, remember, recall, and what a wrong word leads to."""

import shlex

import pytest

from tests.journeys.conftest import Begun
from tests.journeys.machines import SEMANTIC, Machine

pytestmark = pytest.mark.process


def test_what_init_prints_can_be_typed_and_finds_its_answer(begun: Begun) -> None:
    _, _, below = begun.said.partition("Next:\n")
    remember, recall, install = (line.partition("#")[0].strip() for line in below.splitlines())
    assert begun.machine.does(remember).startswith("mem_")
    assert "I am vegetarian" in begun.machine.does(recall).splitlines()[0]
    assert shlex.split(install) == ["recollectum", "mcp", "install", "claude-code"]


def test_status_says_which_search_is_on(laptop: Machine) -> None:
    kind = "semantic, by " if SEMANTIC else "words only"
    (line,) = (line for line in laptop.does("recollectum status").splitlines() if line.startswith("search "))
    assert kind in line


def test_words_that_others_use_lead_to_the_command(laptop: Machine) -> None:
    said = laptop.types("recollectum search tea")
    assert (said.code, said.err) == (
        2,
        "recollectum: there is no command 'search'; did you mean: recollectum recall WORDS\n",
    )
