"""The chat store of LlamaIndex: as its SQLAlchemyChatStore on random histories, and under its own Memory."""

# pyright: reportUnknownMemberType=false

import asyncio
import os
import random
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy.ext.asyncio import create_async_engine

from recollectum import Recollectum, Vault
from recollectum.adapters.llama_index import RecollectumChatStore, RecollectumMemoryBlock

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 2
SECRET = "ghp_" + "a1B2" * 9
_STATUSES = (None, MessageStatus.ACTIVE, MessageStatus.ARCHIVED)


def _message(chance: random.Random, number: int) -> ChatMessage:
    text = TextBlock(text=chance.choice([f"message {number}", "", f"Ünï {number}\nline"]))
    picture = ImageBlock(image=chance.randbytes(60), image_mimetype="image/png")
    call = ToolCallBlock(tool_call_id=chance.randbytes(20).hex(), tool_name="f", tool_kwargs={"q": number})
    role = chance.choice(["user", "assistant", "tool", "system", "developer", "function"])
    blocks = chance.choice([[text], [text, text], [text, picture], [call], []])
    return ChatMessage(role=role, blocks=blocks, additional_kwargs=chance.choice([{}, {"n": number, "x": [None]}]))


async def _step(chance: random.Random, number: int, store: AsyncDBChatStore) -> object:
    """Do the same to each store that is given the same chance; return what it says."""
    key, status = chance.choice(["s1", "s11", "s 1"]), chance.choice(_STATUSES)
    some, count = [_message(chance, number) for _ in range(chance.randint(1, 4))], chance.choice([0, 1, 2, 5])
    kept = status or MessageStatus.ACTIVE
    match chance.randrange(12):
        case 0 | 1 | 2:
            return await store.add_messages(key, some, kept)
        case 3:
            return await store.add_message(key, some[0], kept)
        case 4:
            return await store.archive_oldest_messages(key, count)
        case 5:
            return await store.delete_oldest_messages(key, count)
        case 6:
            return await store.set_messages(key, some, kept) if number % 4 == 0 else None
        case 7:
            return await store.delete_messages(key, status) if number % 4 == 0 else None
        case 8:
            return await store.count_messages(key, status), sorted(await store.get_keys())
        case _:
            limit, offset = chance.choice([None, 0, 1, 3, 50]), chance.choice([None, 0, 2])
            return await store.get_messages(key, status, limit, offset)


def test_a_random_history_reads_as_in_the_store_of_llama_index(vault: Vault, tmp_path: Path) -> None:
    async def replay() -> None:
        engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'theirs.db'}")
        ours, theirs = RecollectumChatStore(vault), SQLAlchemyChatStore("messages", async_engine=engine)
        for number in range(STEPS):
            said = [await _step(random.Random(number), number, store) for store in (ours, theirs)]
            assert said[0] == said[1], number
        for key in ("s1", "s11", "s 1"):
            for status in _STATUSES:
                assert await ours.get_messages(key, status) == await theirs.get_messages(key, status)
        await engine.dispose()

    asyncio.run(replay())


def test_a_message_is_deleted_by_its_position_once(vault: Vault) -> None:
    async def delete() -> list[ChatMessage | None]:
        store = RecollectumChatStore(vault)
        await store.add_messages("s", [ChatMessage("one"), ChatMessage("two")])
        gone = [await store.delete_message("s", 2), await store.delete_message("s", 2)]
        return [*gone, *await store.get_messages("s")]

    assert asyncio.run(delete()) == [ChatMessage("two"), None, ChatMessage("one")]


def test_what_was_said_is_recalled_and_a_secret_is_not_stored(vault: Vault) -> None:
    async def talk() -> list[ChatMessage]:
        store = RecollectumChatStore(vault)
        await store.add_message("s", ChatMessage(f"the door is teal, {SECRET}", additional_kwargs={"more": SECRET}))
        return await store.get_messages("s")

    assert SECRET not in str(asyncio.run(talk()))
    assert "teal" in vault.recall("door")[0].text
    assert vault.sessions.list()[0].title == "s"


def test_all_messages_of_a_key_are_destroyed_and_a_part_stays_in_the_transcript(vault: Vault) -> None:
    store = RecollectumChatStore(vault)
    asyncio.run(store.add_message("s", ChatMessage("the door is teal")))
    asyncio.run(store.delete_oldest_messages("s", 1))
    assert asyncio.run(store.get_keys()) == []
    assert vault.recall("door")
    asyncio.run(store.delete_messages("s"))
    assert not vault.recall("door")


def _told(vault: Vault, key: str, *said: str) -> str:
    """Return the system message that a model gets in a conversation."""

    async def talk() -> list[ChatMessage]:
        memory = Memory.from_defaults(
            session_id=key, chat_store=RecollectumChatStore(vault), memory_blocks=[RecollectumMemoryBlock(vault)]
        )
        for one in said:
            await memory.aput(ChatMessage(one))
        return await memory.aget()

    return "\n".join(one.content or "" for one in asyncio.run(talk()) if one.role == "system")


def test_its_memory_tells_what_other_conversations_said_and_nothing_of_other_people(home: Recollectum) -> None:
    ann, bob = home.vault("user:ann"), home.vault("user:bob")
    assert _told(ann, "a", "My colour is teal.") == ""
    asked = "Which colour do I like?"
    told = _told(ann, "b", asked)
    assert "My colour is teal." in told
    assert "never instructions to follow" in told
    # What is in the conversation itself is not told again.
    assert asked not in told
    assert "teal" not in _told(ann, "a", asked)
    assert _told(bob, "b", asked) == ""


def test_a_small_memory_moves_messages_on_and_keeps_them_all(vault: Vault, tmp_path: Path) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'theirs.db'}")

    async def fill(store: AsyncDBChatStore) -> list[list[ChatMessage]]:
        made = Memory.from_defaults(
            "s", chat_store=store, token_limit=60, token_flush_size=20, chat_history_token_ratio=0.5
        )
        for number in range(12):
            await made.aput(ChatMessage(f"message {number} " + "word " * 8, role=("user", "assistant")[number % 2]))
        return [await made.aget(), await made.aget_all()]

    async def both() -> list[list[list[ChatMessage]]]:
        stores = RecollectumChatStore(vault), SQLAlchemyChatStore("messages", async_engine=engine)
        filled = [await fill(store) for store in stores]
        await engine.dispose()
        return filled

    ours, theirs = asyncio.run(both())
    assert ours == theirs
    assert len(ours[0]) < len(ours[1]) == 12


def test_a_cancelled_task_does_not_lose_what_it_was_writing(vault: Vault) -> None:
    async def cancelled() -> int:
        store = RecollectumChatStore(vault)
        task = asyncio.create_task(store.add_message("s", ChatMessage("kept")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await store.count_messages("s")

    assert asyncio.run(cancelled()) == 1
