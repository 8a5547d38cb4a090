"""Pydantic AI: what Ann says in one conversation is recalled in another one, and Bob does not see it."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollectum import Recollectum, Vault
from recollectum.adapters.pydantic_ai import RecollectumCapability, RecollectumConversationStore


def parrot(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stand in for a model: answer with the instructions, which hold what is remembered."""
    return ModelResponse(parts=[TextPart(repr(info.instructions))])


# The vault of a run is its dependency.
agent = Agent(FunctionModel(parrot), deps_type=Vault, capabilities=[RecollectumCapability(lambda vault: vault)])


async def ask(vault: Vault, name: str, said: str) -> str:
    """Return the answer to what a person says in a conversation."""
    store = RecollectumConversationStore(vault)
    conversation = await store.load(name) or Conversation(conversation_id=name)
    result = await agent.run(said, deps=vault, conversation=conversation)
    await store.save(result)
    return result.output


with Recollectum.temporary() as home:
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "Which colour do I like?"), ("bob/1", "Which one?")):
        print(f"{name}: {asyncio.run(ask(home.vault('user:' + name.partition('/')[0]), name, said))}")
