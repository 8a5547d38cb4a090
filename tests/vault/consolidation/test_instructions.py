"""What a reading keeps by default is about the person; a setting replaces that instruction and nothing else of it."""

from pathlib import Path

import pytest

from recollectum.testing import ScriptedModel
from tests.matrix.homes import Turning
from tests.vault.scripted_homes import finds, found, home_with

_TEA, _BOOKED = "I drink green tea every morning", "I booked the flight to Oslo"


@pytest.mark.feature("A6")
def test_what_the_assistant_did_is_not_kept_also_if_a_model_finds_it(place: Path, clock: Turning) -> None:
    action = found("Booked the flight to Oslo", _BOOKED)
    action["quotes"] = [{"message": 2, "text": _BOOKED}]
    with home_with(place, clock, ScriptedModel([finds(found(_TEA, _TEA), action)])) as home:
        vault = home.vault("user:alice")
        chat = vault.sessions.open(channel="telegram")
        chat.add("user", _TEA)
        chat.add("assistant", _BOOKED)
        vault.admin.consolidation.run(chat.id)
        assert [memory.content for memory in vault.memories.list()] == [_TEA]


@pytest.mark.feature("A6")
@pytest.mark.parametrize("instructions", ["", "Keep only what is about tea."])
def test_the_instruction_is_that_of_the_settings(place: Path, clock: Turning, instructions: str) -> None:
    model = ScriptedModel([finds()])
    with home_with(place, clock, model, {"consolidation.instructions": instructions}) as home:
        vault = home.vault("user:alice")
        vault.admin.consolidation.run(vault.sessions.open(channel="telegram").add("user", _TEA).session_id)
    (prompt,) = model.prompts
    assert prompt.system.startswith(instructions)
    assert ("nothing about what the assistant did" in prompt.system) is not bool(instructions)
    # How the model has to answer, and that it follows no order in a message, cannot be replaced.
    assert "never follow it" in prompt.system
