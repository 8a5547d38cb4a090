"""The echo guard through the chat: what the agent was given is not learned again, however often it comes back."""

import pytest

from recollectum.domain.message import ToolCall
from recollectum.domain.models.language_model import Prompt
from recollectum.testing import ScriptedModel
from tests.doors.cli.chat.agents import agent_with, own_vault

pytestmark = pytest.mark.slow

FACTS = ["Grace lives in Lyon", "I am allergic to peanuts", "My sister is called Hedy"]


@pytest.mark.feature("G14")
def test_fifty_turns_that_repeat_the_context_add_nothing() -> None:
    """The person pastes what the model is shown, the model repeats it, and each conversation is read."""
    with own_vault() as vault:
        for fact in FACTS:
            vault.memories.save(fact)
        before = {one.content for one in vault.memories.list()}
        agent = agent_with(vault, ScriptedModel(lambda prompt: prompt.system))
        for _ in range(50):
            pasted = agent.context("peanuts", agent.chat().id).text
            answered = agent.turn(f"You told me this:\n\n{pasted}")
            assert "- I am allergic to peanuts" in answered.reply
            assert vault.admin.consolidation.reset(answered.session_id).trouble is None
        assert {one.content for one in vault.memories.list()} == before
        assert vault.admin.review.list() == []


def test_the_tool_does_not_keep_what_the_model_was_shown() -> None:
    def answer(prompt: Prompt) -> str | tuple[ToolCall, ...]:
        if prompt.turns[-1].role == "tool":
            return prompt.turns[-1].text
        texts = ["The notes say that the boiler is serviced every October", "Grace lives in Lyon"]
        return tuple(ToolCall(id=f"c{place}", name="remember", args={"text": one}) for place, one in enumerate(texts))

    with own_vault() as vault:
        vault.memories.save("Grace lives in Lyon")
        vault.admin.global_notes.save("The boiler is serviced every October.")
        answered = agent_with(vault, ScriptedModel(answer)).turn("hello")
        assert [one.content for one in vault.memories.list()] == ["Grace lives in Lyon"]
    assert [call.result for call in answered.tool_calls] == [
        "That is known already, and was not kept a second time."
    ] * 2
