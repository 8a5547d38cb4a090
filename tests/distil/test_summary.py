"""A summary carries on the last one, keeps to its budget, and is made by rules where no model helps."""

import pytest

from recollectum.distil.summary import summarise
from recollectum.domain.errors import ModelUnavailable
from recollectum.testing import ScriptedModel
from recollectum.text.tokens import counter_for
from tests.distil.said import said

TALK = said("u: I live in Oslo.", "a: Good to know.", "u: We decided to paint the kitchen green by Friday.")
COUNT = counter_for(None).count


@pytest.mark.feature("P5")
def test_a_model_carries_on_the_last_summary() -> None:
    script = ScriptedModel(["They live in Oslo and paint the kitchen green."])
    made = summarise("They like tea.", TALK, script, 200)
    assert (made.text, made.up_to, made.by) == (
        "They live in Oslo and paint the kitchen green.",
        3,
        "scripted/scripted",
    )
    (prompt,) = script.prompts
    assert "| They like tea." in prompt.turns[0].text
    assert "| We decided to paint the kitchen green by Friday." in prompt.turns[0].text


@pytest.mark.parametrize("answer", [ModelUnavailable("it is away; try again later"), "", "  \n"])
def test_rules_step_in_for_a_model_that_fails_and_say_so(answer: ModelUnavailable | str) -> None:
    made = summarise("user: I like tea.", TALK, ScriptedModel([answer]), 200)
    assert made.by == "rules"
    assert made.up_to == 3
    assert "I like tea." in made.text
    assert "I live in Oslo." in made.text


def test_without_a_model_it_is_the_same() -> None:
    assert summarise("user: I like tea.", TALK, None, 200) == summarise(
        "user: I like tea.", TALK, ScriptedModel([ModelUnavailable("it is away; try again later")]), 200
    )


@pytest.mark.parametrize("tokens", [0, 1, 5, 12, 40])
def test_the_budget_is_kept_whoever_makes_it(tokens: int) -> None:
    wordy = "They live in Oslo. " * 50
    assert COUNT(summarise(None, TALK, ScriptedModel([wordy]), tokens).text) <= tokens
    assert COUNT(summarise(None, TALK, None, tokens).text) <= tokens


def test_a_summary_that_is_too_long_ends_with_a_whole_sentence() -> None:
    made = summarise(None, TALK, ScriptedModel(["They live in Oslo. " * 50]), 40)
    assert made.by == "scripted/scripted"
    assert made.text.endswith("Oslo.")


def test_a_long_conversation_is_folded_in_window_by_window() -> None:
    talk = said(*(f"u: {'word ' * 2000} {number}" for number in range(12)))
    script = ScriptedModel(lambda prompt: f"summary {len(script.prompts)}")
    made = summarise(None, talk, script, 200)
    assert len(script.prompts) > 2
    assert made.text == f"summary {len(script.prompts)}"
    assert "| summary 1\n" in script.prompts[1].turns[0].text


def test_no_messages_need_no_model() -> None:
    script = ScriptedModel([])
    assert summarise(None, (), script, 200).text == ""
    assert script.prompts == []
