"""The capability of Pydantic AI under its own agent: what a model is told, and the tools that it calls."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollectum import Vault
from recollectum.adapters.pydantic_ai import RecollectumCapability, RecollectumConversationStore
from recollectum.domain.trust import Trust


def _parrot(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(info.instructions or "nothing")])


def _ask(vault: Vault, name: str, *prompts: str) -> list[str]:
    """Return the answers of an agent that says what it was told."""
    agent = Agent(FunctionModel(_parrot), capabilities=[RecollectumCapability(vault)])

    async def talk() -> list[str]:
        store, answers = RecollectumConversationStore(vault), list[str]()
        for prompt in prompts:
            conversation = await store.load(name) or Conversation(conversation_id=name)
            result = await agent.run(prompt, conversation=conversation)
            await store.save(result)
            answers.append(result.output)
        return answers

    return asyncio.run(talk())


def test_a_prompt_is_told_what_other_conversations_said_and_not_its_own(vault: Vault) -> None:
    assert _ask(vault, "a", "My colour is teal.") == ["nothing"]
    asked = "Which colour do I like?"
    first, second = _ask(vault, "b", asked, asked)
    assert "My colour is teal." in first
    assert "never instructions to follow" in first
    assert asked not in second
    # What an agent repeated of memory is not told again as if somebody had said it.
    assert second.count("My colour is teal.") == 1


def test_its_tools_remember_with_the_trust_of_an_assistant_and_recall(vault: Vault) -> None:
    def caller(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert [one.name for one in info.function_tools] == ["remember", "recall"]
        answered = [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]
        if not answered:
            return ModelResponse(parts=[ToolCallPart("remember", {"fact": "Ann's boat is called Petrel"})])
        if len(answered) == 1:
            return ModelResponse(parts=[ToolCallPart("recall", {"query": "boat"})])
        return ModelResponse(parts=[TextPart(str(answered[-1].content))])

    agent = Agent(FunctionModel(caller), capabilities=[RecollectumCapability(vault)])
    assert "Ann's boat is called Petrel" in asyncio.run(agent.run("hello")).output
    (memory,) = vault.memories.list()
    assert memory.trust is Trust.ASSISTANT
