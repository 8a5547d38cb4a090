"""The conversation store of Pydantic AI: as its store in memory on random histories, and alone where it has to be."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage, RunUsage

from recollectum import Recollectum, Vault
from recollectum.adapters.pydantic_ai import RecollectumConversationStore

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 2
SECRET = "ghp_" + "a1B2" * 9
_AT = datetime(2026, 11, 1, tzinfo=UTC)
NAMES = ("c1", "c11", "c 1", "Ünï")


def _message(chance: random.Random, number: int) -> ModelMessage:
    call = chance.randbytes(16).hex()
    # Pictures come back as `BinaryImage`, by the JSON of the framework itself.
    document = BinaryContent(data=chance.randbytes(40), media_type="application/pdf")
    requests: list[Any] = [
        UserPromptPart(f"message {number}", timestamp=_AT),
        UserPromptPart([f"Ünï {number}", document], timestamp=_AT),
        ToolReturnPart("f", {"result": [number, None]}, tool_call_id=call, timestamp=_AT),
    ]
    responses: list[Any] = [
        TextPart(f"answer {number}"),
        ToolCallPart("f", {"q": number}, tool_call_id=call),
        ThinkingPart("so", signature=chance.randbytes(60).hex()),
    ]
    if chance.random() < 0.5:
        return ModelRequest(parts=[chance.choice(requests)], timestamp=_AT)
    usage = RequestUsage(input_tokens=number)
    return ModelResponse(parts=[chance.choice(responses)], usage=usage, model_name="m", timestamp=_AT)


def _prompt(text: str) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text, timestamp=_AT)], timestamp=_AT)


async def _told(what: Callable[[], Awaitable[object]]) -> object:
    """Return what a call answers or how it is refused, without what two stores choose by themselves."""
    try:
        return _plain(await what())
    except (UserError, ConversationConflict) as error:
        return type(error).__name__


def _plain(value: object) -> object:
    if isinstance(value, Conversation):
        return value.conversation_id, value.messages, value.usage
    if isinstance(value, ConversationRecord):
        return value.conversation_id, value.scope, value.usage, value.forked_from, len(value.branches)
    if isinstance(value, ConversationEntry):
        return value.message
    return [_plain(one) for one in value] if isinstance(value, list) else value  # pyright: ignore


async def _save(chance: random.Random, number: int, store: ConversationStore, name: str) -> object:
    """Load, change and save: grown, rewritten, or over what somebody else saved."""
    scope = chance.choice([None, "a", "b"])
    found = await store.load(name, limit=chance.choice([None, None, 2])) or Conversation(conversation_id=name)
    if chance.random() < 0.2:
        found = Conversation(
            messages=found.messages[: chance.randrange(4)], conversation_id=name, revision=found.revision
        )
    if chance.random() < 0.1:
        found = replace(found, revision=None)
    found.messages += [_message(chance, number) for _ in range(chance.randrange(4))]
    found.usage = RunUsage(requests=number)
    return await store.save(found, scope=scope)


async def _step(number: int, store: ConversationStore) -> object:
    chance = random.Random(number)
    name, other, scope = chance.choice(NAMES), chance.choice(NAMES), chance.choice([None, "a", "b"])
    at, limit = chance.choice([None, 0, 1, 2, 9]), chance.choice([None, 0, 1, 3])
    record = await store.read_record(name)
    revision = record.revision if record else "unknown"
    branch = record.branches[-1] if record and record.branches and chance.random() < 0.3 else None
    match chance.randrange(10):
        case 0 | 1 | 2 | 3:
            return await _told(lambda: _save(chance, number, store, name))
        case 4:
            return await _told(
                lambda: store.branch(name, at=None if branch else at, from_entry=branch, expected_revision=revision)
            )
        case 5:
            return await _told(
                lambda: store.fork(name, at=None if branch else at, from_entry=branch, new_conversation_id=other)
            )
        case 6:
            return await _told(lambda: store.delete(name, scope=scope)) if number % 3 == 0 else None
        case 7:
            return await _told(lambda: store.list_conversations(scope=scope, limit=limit))
        case _:
            return await _told(lambda: store.load(name, limit=limit, scope=scope))


def test_a_random_history_reads_as_in_the_store_of_pydantic_ai(vault: Vault) -> None:
    async def replay() -> None:
        ours, theirs = RecollectumConversationStore(vault), InMemoryConversationStore()
        for number in range(STEPS):
            said = [await _step(number, store) for store in (ours, theirs)]
            assert said[0] == said[1], number
        for name in NAMES:
            said = [await _told(lambda store=store, name=name: store.load_entries(name)) for store in (ours, theirs)]
            assert said[0] == said[1]

    asyncio.run(replay())


def test_another_store_of_the_vault_goes_on_with_the_conversation(vault: Vault) -> None:
    async def talk() -> list[ModelMessage]:
        saved = Conversation(messages=[_prompt("one")], conversation_id="c")
        await RecollectumConversationStore(vault).save(saved)
        vault.sessions.chat(vault.sessions.list()[0].id).end()
        (entry,) = await RecollectumConversationStore(vault).load_entries("c") or []
        assert await RecollectumConversationStore(vault).read_entry(entry.id) == entry
        saved.messages.append(_prompt("two"))
        await RecollectumConversationStore(vault).save(saved)
        found = await RecollectumConversationStore(vault).load("c")
        return found.messages if found else []

    assert asyncio.run(talk()) == [_prompt("one"), _prompt("two")]
    assert len(vault.sessions.list()) == 1


def test_of_many_that_save_at_once_one_is_stored_and_nothing_of_the_others(vault: Vault) -> None:
    async def race() -> tuple[list[object], Conversation | None]:
        store = RecollectumConversationStore(vault)
        await store.save(Conversation(messages=[_prompt("the door is teal")], conversation_id="c"))
        loaded = [await RecollectumConversationStore(vault).load("c") for _ in range(6)]
        for number, one in enumerate(loaded):
            assert one is not None
            one.messages.append(_prompt(f"writer {number}"))
        saves = (RecollectumConversationStore(vault).save(one) for one in loaded if one)
        return list(await asyncio.gather(*saves, return_exceptions=True)), await store.load("c")

    results, found = asyncio.run(race())
    assert [type(one) for one in results].count(ConversationConflict) == 5
    (winner,) = [number for number, one in enumerate(results) if isinstance(one, list)]
    assert found is not None
    assert found.messages[1:] == [_prompt(f"writer {winner}")]
    assert [hit.text for hit in vault.recall("writer")] == [f"writer {winner}"]


def test_a_save_does_not_bring_back_what_was_deleted(vault: Vault) -> None:
    async def work() -> None:
        store = RecollectumConversationStore(vault)
        saved = Conversation(messages=[_prompt("the door is teal")], conversation_id="c")
        await store.save(saved)
        fork = await store.fork("c", new_conversation_id="d")
        await store.delete("c")
        assert not vault.recall("door")
        with pytest.raises(ConversationConflict):
            await store.save(saved)
        assert await store.load("c") is None
        # A fork does not need what it was made from.
        loaded = await RecollectumConversationStore(vault).load("d")
        assert loaded is not None
        assert loaded.messages == fork.messages == [_prompt("the door is teal")]

    asyncio.run(work())


def test_what_was_said_is_recalled_by_its_speaker_and_a_secret_is_not_stored(vault: Vault) -> None:
    async def talk() -> Conversation | None:
        store = RecollectumConversationStore(vault)
        answer = ModelResponse(parts=[TextPart(f"teal it is, {SECRET}")])
        await store.save(Conversation(messages=[_prompt(f"the door is teal, {SECRET}"), answer], conversation_id="c"))
        return await store.load("c")

    found = asyncio.run(talk())
    assert found is not None
    assert SECRET not in str(found.messages)
    assert {hit.author for hit in vault.recall("teal")} == {"user", "assistant"}


_KILLED = """
import asyncio, os, sys
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelRequest, UserPromptPart
from recollectum import Recollectum
from recollectum.adapters.pydantic_ai import store

store._spoken = lambda entry: os.kill(os.getpid(), 9)
with Recollectum(sys.argv[1], settings={"encryption": "off"}) as home:
    said = ModelRequest(parts=[UserPromptPart("the door is teal")])
    saved = Conversation(messages=[said], conversation_id="c")
    asyncio.run(store.RecollectumConversationStore(home.vault("user:ann")).save(saved))
"""


@pytest.mark.process
def test_a_save_that_was_killed_is_whole_and_is_recalled_after_the_next_one(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path / "home")], check=False)
    assert killed.returncode == -9

    async def go_on(vault: Vault) -> list[ModelMessage]:
        store = RecollectumConversationStore(vault)
        found = await store.load("c")
        assert found is not None
        found.messages.append(_prompt("and the window"))
        await store.save(found)
        return found.messages

    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        vault = home.vault("user:ann")
        assert not vault.recall("door")
        assert len(asyncio.run(go_on(vault))) == 2
        assert [hit.text for hit in vault.recall("door")] == ["the door is teal"]
        assert [hit.text for hit in vault.recall("window")] == ["and the window"]


def test_people_do_not_see_each_other(home: Recollectum) -> None:
    async def talk() -> Conversation | None:
        await RecollectumConversationStore(home.vault("user:ann")).save(
            Conversation(messages=[_prompt("the door is teal")], conversation_id="c")
        )
        return await RecollectumConversationStore(home.vault("user:bob")).load("c")

    assert asyncio.run(talk()) is None
    assert not home.vault("user:bob").recall("door")
