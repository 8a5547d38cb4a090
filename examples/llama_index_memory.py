"""LlamaIndex: what Ann says in one conversation is recalled in another one, and Bob does not see it."""

import asyncio
from collections.abc import Sequence

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

from recollectum import Recollectum, Vault
from recollectum.adapters.llama_index import RecollectumChatStore, RecollectumMemoryBlock


def parrot(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
    """Stand in for a model: answer with the instructions, which hold what is remembered."""
    return ChatMessage(role="assistant", content=repr([one.content for one in messages if one.role == "system"]))


async def ask(vault: Vault, name: str, said: str) -> str:
    """Return the answer to what a person says in a conversation."""
    store, block = RecollectumChatStore(vault), RecollectumMemoryBlock(vault)
    memory = Memory.from_defaults(session_id=name, chat_store=store, memory_blocks=[block])
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=parrot), tools=[])
    return str(await agent.run(said, memory=memory))


with Recollectum.temporary() as home:
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "Which colour do I like?"), ("bob/1", "Which one?")):
        print(f"{name}: {asyncio.run(ask(home.vault('user:' + name.partition('/')[0]), name, said))}")
