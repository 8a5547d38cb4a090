"""The session of the OpenAI Agents SDK: as its SQLiteSession on random histories, and under the SDK's own runner."""

# pyright: reportUnknownMemberType=false

import asyncio
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from agents.memory import Session, SessionSettings

from agents import SQLiteSession
from recollectum import Recollectum, Vault
from recollectum.adapters.openai_agents import RecollectumSession

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 2
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        yield home.vault("user:ann")


def _item(rnd: random.Random, n: int) -> dict[str, Any]:
    return rnd.choice(
        [
            {"role": "user", "content": f"message {n}"},
            {"role": "developer", "content": ""},
            {"role": "user", "content": [{"type": "input_text", "text": f"Ünï {n}"}, _image(rnd)]},
            {"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": json.dumps({"q": n}), "id": "fc"},
            {"type": "function_call_output", "call_id": f"c{n}", "output": f"result {n}"},
            {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": rnd.randbytes(90).hex()},
            {
                "type": "message",
                "id": f"msg_{rnd.randbytes(24).hex()}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": f"answer {n}", "annotations": [], "logprobs": None}],
            },
        ]
    )


def _image(rnd: random.Random) -> dict[str, Any]:
    return {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{rnd.randbytes(60).hex()}"}


def _as_items(items: list[dict[str, Any]]) -> "list[TResponseInputItem]":
    return cast("list[TResponseInputItem]", items)


async def _step(rnd: random.Random, n: int, ours: RecollectumSession, theirs: SQLiteSession) -> None:
    dice = rnd.random()
    if dice < 0.45:
        items = _as_items([_item(rnd, n) for _ in range(rnd.randint(0, 4))])
        await ours.add_items(items)
        await theirs.add_items(items)
    elif dice < 0.65:
        assert await ours.pop_item() == await theirs.pop_item()
    elif dice < 0.67:
        await ours.clear_session()
        await theirs.clear_session()
    else:
        limit = rnd.choice([None, 0, 1, 2, 5, 50, -1])
        assert await ours.get_items(limit) == await theirs.get_items(limit)


def test_a_random_history_reads_as_in_the_session_of_the_sdk(vault: Vault) -> None:
    async def replay() -> None:
        rnd = random.Random(5)
        pairs = [(RecollectumSession(name, vault), SQLiteSession(name)) for name in ("s1", "s11")]
        for n in range(STEPS):
            await _step(rnd, n, *rnd.choice(pairs))
        for ours, theirs in pairs:
            assert await ours.get_items() == await theirs.get_items()
            theirs.close()

    asyncio.run(replay())


def test_it_has_the_protocol_of_the_sdk_and_its_limit(vault: Vault) -> None:
    session = RecollectumSession("s", vault, session_settings=SessionSettings(limit=2))
    assert isinstance(session, Session)
    items = _as_items([{"role": "user", "content": str(n)} for n in range(5)])

    async def last() -> "tuple[list[TResponseInputItem], list[TResponseInputItem]]":
        await session.add_items(items)
        return await session.get_items(), await session.get_items(limit=3)

    assert asyncio.run(last()) == (items[-2:], items[-3:])


def test_what_was_said_is_recalled_and_a_secret_is_not_stored(vault: Vault) -> None:
    session = RecollectumSession("s", vault)
    items = [{"role": "user", "content": f"the door is teal, {SECRET}"}, {"type": "f_output", "output": SECRET}]

    async def talk() -> "list[TResponseInputItem]":
        await session.add_items(_as_items(items))
        return await session.get_items()

    kept = asyncio.run(talk())
    assert SECRET not in str(kept)
    assert [item.get("type") for item in kept] == [None, "f_output"]
    assert "teal" in vault.recall("door")[0].text
    assert vault.sessions.list()[0].title == "s"


def test_two_that_pop_at_once_get_two_items(vault: Vault) -> None:
    async def pop() -> "list[TResponseInputItem | None]":
        sessions = [RecollectumSession("s", vault) for _ in range(4)]
        await sessions[0].add_items(_as_items([{"role": "user", "content": str(n)} for n in range(3)]))
        return list(await asyncio.gather(*(session.pop_item() for session in sessions)))

    popped = asyncio.run(pop())
    assert sorted(str(item["content"]) for item in popped if item and "content" in item) == ["0", "1", "2"]
    assert popped.count(None) == 1


def test_a_cancelled_task_does_not_lose_what_it_was_writing(vault: Vault) -> None:
    session = RecollectumSession("s", vault)

    async def cancelled() -> "list[TResponseInputItem]":
        task = asyncio.create_task(session.add_items(_as_items([{"role": "user", "content": "kept"}])))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await session.get_items()

    assert asyncio.run(cancelled()) == [{"role": "user", "content": "kept"}]


def test_people_and_sessions_do_not_see_each_other(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        ann, bob = (RecollectumSession("s", home.vault(f"user:{name}")) for name in ("ann", "bob"))
        other = RecollectumSession("s2", home.vault("user:ann"))

        async def talk() -> "list[list[TResponseInputItem]]":
            await ann.add_items(_as_items([{"role": "user", "content": "the door is teal"}]))
            return [await session.get_items() for session in (bob, other)]

        assert asyncio.run(talk()) == [[], []]
        assert not home.vault("user:bob").recall("door")


def test_a_session_that_was_ended_goes_on(vault: Vault) -> None:
    session = RecollectumSession("s", vault)

    async def say(text: str) -> "list[TResponseInputItem]":
        await session.add_items(_as_items([{"role": "user", "content": text}]))
        return await session.get_items()

    asyncio.run(say("one"))
    vault.sessions.chat(vault.sessions.list()[0].id).end()
    assert len(asyncio.run(say("two"))) == 2
    assert len(vault.sessions.list()) == 1


def test_a_session_that_somebody_deleted_is_started_again(vault: Vault) -> None:
    async def talk() -> None:
        await first.add_items([{"role": "user", "content": "before"}])
        await other.clear_session()
        assert await first.get_items() == []
        await first.add_items([{"role": "user", "content": "after"}])

    first, other = RecollectumSession("s", vault), RecollectumSession("s", vault)
    asyncio.run(talk())
    assert asyncio.run(other.get_items()) == [{"role": "user", "content": "after"}]


def test_the_last_items_are_found_behind_many_that_were_popped(vault: Vault) -> None:
    async def talk() -> None:
        await session.add_items([{"role": "user", "content": str(n)} for n in range(30)])
        for _ in range(20):
            await session.pop_item()

    session = RecollectumSession("s", vault)
    asyncio.run(talk())
    assert [one["content"] for one in cast("Any", asyncio.run(session.get_items(limit=3)))] == ["7", "8", "9"]
    assert asyncio.run(session.get_items(limit=0)) == []


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": "my colour is teal"},
        {"role": "assistant", "content": ""},
        {"role": "developer", "content": "be brief\n\nalways"},
        {"role": "critic", "content": "a role that the vault has no name for"},
        {"role": "user", "content": "said in a message", "type": "message"},
        {"role": "user", "content": None},
    ],
)
def test_an_item_comes_back_whether_the_message_says_it_all_or_not(vault: Vault, item: dict[str, Any]) -> None:
    session = RecollectumSession("s", vault)
    asyncio.run(session.add_items([cast("Any", item)]))
    assert asyncio.run(session.get_items()) == [item]
    assert asyncio.run(session.pop_item()) == item
    assert asyncio.run(session.get_items()) == []


def test_an_item_that_repeats_what_memory_served_is_given_to_the_model_whole(vault: Vault) -> None:
    vault.memories.save("Ann's boat is called Kittiwake")
    served = vault.context("what is the boat called?").text
    item = {"role": "user", "content": f"{served}\n\nWhat does it cost to moor her?"}
    session = RecollectumSession("s", vault)
    asyncio.run(session.add_items([cast("Any", item)]))
    assert asyncio.run(session.get_items()) == [item]
    assert "Kittiwake" not in vault.sessions.chat(vault.sessions.list()[0].id).messages()[0].text
