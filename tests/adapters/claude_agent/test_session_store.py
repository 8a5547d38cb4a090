"""The session store of the Claude Agent SDK: the SDK's own suite, random histories beside its store, and races."""

import asyncio
import json
import random
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, cast

import pytest
from claude_agent_sdk import (
    InMemorySessionStore,
    delete_session_via_store,
    fold_session_summary,
    get_session_messages_from_store,
    list_sessions_from_store,
    project_key_for_directory,
)
from claude_agent_sdk.testing import run_session_store_conformance

from recollectum import Recollectum, Vault
from recollectum.adapters.claude_agent import RecollectumSessionStore, memory_hooks, session_store
from recollectum.adapters.claude_agent.conversations import key_of
from recollectum.domain.errors import InvalidInput
from recollectum.vault.purge.request import PurgeRequest, PurgeState

if TYPE_CHECKING:
    from claude_agent_sdk.types import SessionKey, SessionListSubkeysKey, SessionStoreEntry

SEEDS, STEPS = 4, 60
PROJECT, TALK = "-home-ann", "1b0f1810-7f4d-4c9e-9c39-64a3a2ad0ff1"
KEY: "SessionKey" = {"project_key": PROJECT, "session_id": TALK}
#: A long word that a vault takes for a secret, and what no database keeps as text.
SECRET = "sk-ant-api03-" + "Zx9" * 30
ODD: tuple[Any, ...] = (None, 0, -1.5, 2**60, "", "Ä\x00", "\ud800", SECRET, [], {"a": [1, {"b": None}]}, True)


def _entry(**fields: object) -> "SessionStoreEntry":
    return cast("SessionStoreEntry", {"type": "user", **fields})


def _said(number: int, role: str, text: str) -> "SessionStoreEntry":
    at = f"2026-11-01T10:00:{number:02}.000Z"
    message = {"role": role, "content": text}
    return cast(
        "SessionStoreEntry",
        {
            "type": role,
            "uuid": f"u{number}",
            "sessionId": TALK,
            "timestamp": at,
            "message": message,
            "parentUuid": f"u{number - 1}" if number > 1 else None,
        },
    )


TEAL = [_said(1, "user", "My colour is teal."), _said(2, "assistant", "Noted.")]


def test_the_suite_of_the_sdk_passes_with_every_optional_method(home: Recollectum) -> None:
    people = count()
    asyncio.run(run_session_store_conformance(lambda: RecollectumSessionStore(home.vault(f"user:p{next(people)}"))))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_histories_read_as_in_the_store_of_the_sdk(vault: Vault, seed: int) -> None:
    rng, number = random.Random(seed), count()
    ours, theirs = RecollectumSessionStore(vault), InMemorySessionStore()

    def pick() -> "SessionKey":
        # Without slashes: its store takes session "a/b" for subpath "b" of session "a".
        key: SessionKey = {"project_key": rng.choice(["p", ""]), "session_id": rng.choice(["a", "Ä %3A", SECRET])}
        return {**key, "subpath": rng.choice(["subagents/agent-1", "x", "x/y", SECRET])} if rng.random() < 0.4 else key

    def entry() -> "SessionStoreEntry":
        fields = {rng.choice(["customTitle", "summary", "tag", "cwd", "message", "n"]): rng.choice(ODD)}
        return _entry(**fields, **({"uuid": f"u{next(number)}"} if rng.random() < 0.7 else {}))

    async def work() -> None:
        for _ in range(STEPS):
            key = pick()
            if rng.random() < 0.15:
                await ours.delete(key)
                await theirs.delete(key)
            else:
                entries = [entry() for _ in range(rng.randrange(1, 4))]
                await ours.append(key, entries)
                await theirs.append(key, entries)
            looked = pick()
            assert await ours.load(looked) == await theirs.load(looked)
        for project in ("p", "", "never"):
            listed, known = await ours.list_sessions(project), await theirs.list_sessions(project)
            assert {one["session_id"] for one in listed} == {one["session_id"] for one in known}
            for one in known:
                place: SessionListSubkeysKey = {"project_key": project, "session_id": one["session_id"]}
                assert sorted(await ours.list_subkeys(place)) == sorted(await theirs.list_subkeys(place))
            summed, wanted = await ours.list_session_summaries(project), await theirs.list_session_summaries(project)
            assert {one["session_id"]: one["data"] for one in summed} == {
                one["session_id"]: one["data"] for one in wanted
            }

    asyncio.run(work())


def test_entries_outlive_the_process_and_go_nowhere_else(tmp_path: Path) -> None:
    entries = [*TEAL, _entry(uuid="big", blob="é" * 3_000_000), _entry(secret=SECRET)]
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        asyncio.run(RecollectumSessionStore(home.vault("user:ann")).append(KEY, entries))
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        assert asyncio.run(RecollectumSessionStore(home.vault("user:ann")).load(KEY)) == entries
        bob = RecollectumSessionStore(home.vault("user:bob"))
        assert asyncio.run(bob.load(KEY)) is None
        assert asyncio.run(bob.list_sessions(PROJECT)) == []
        assert home.vault("user:bob").recall("which colour is teal") == []


def test_a_function_gives_each_project_its_vault(home: Recollectum) -> None:
    store = RecollectumSessionStore(lambda project: home.vault(f"user:{project}"))
    asyncio.run(store.append({"project_key": "ann", "session_id": TALK}, TEAL))
    assert asyncio.run(store.load({"project_key": "bob", "session_id": TALK})) is None
    assert [one.id for one in home.vault("user:bob").sessions.list()] == []
    assert asyncio.run(RecollectumSessionStore(home.vault("user:ann")).load({**KEY, "project_key": "ann"})) == TEAL


def test_what_was_said_is_recalled_and_known_to_the_hooks_and_to_an_import(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / f"{TALK}.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in TEAL))
    event: Any = {"session_id": TALK, "transcript_path": str(file), "cwd": "/", "hook_event_name": "PostToolUse"}
    (matcher,) = memory_hooks(vault)["PostToolUse"]

    async def work() -> None:
        await RecollectumSessionStore(vault).append(KEY, TEAL)
        await matcher.hooks[0](event, None, {"signal": None})
        # As the SDK does after an error.
        await RecollectumSessionStore(vault).append(KEY, TEAL)

    asyncio.run(work())
    assert [hit.text for hit in vault.recall("which colour do I like?")][:1] == ["My colour is teal."]
    done = vault.admin.imports.run(vault.admin.imports.preview([file]), mine=True)
    assert [one.added for one in done.files] == [0]
    assert [one.text for chat in _chats(vault) for one in chat if one.text] == ["My colour is teal.", "Noted."]
    assert asyncio.run(RecollectumSessionStore(vault).load(KEY)) == TEAL


def test_what_the_sdk_offers_over_a_store_works(vault: Vault, tmp_path: Path) -> None:
    store = RecollectumSessionStore(vault)
    key: SessionKey = {"project_key": project_key_for_directory(tmp_path), "session_id": TALK}
    inner: SessionKey = {**key, "subpath": "subagents/agent-1"}

    async def work() -> None:
        await store.append(key, TEAL)
        await store.append(inner, [_entry(uuid="x", isSidechain=True)])
        (listed,) = await list_sessions_from_store(store, directory=str(tmp_path))
        assert (listed.session_id, listed.first_prompt) == (TALK, "My colour is teal.")
        said = await get_session_messages_from_store(store, TALK, directory=str(tmp_path))
        assert [one.uuid for one in said] == ["u1", "u2"]
        await delete_session_via_store(store, TALK, directory=str(tmp_path))
        assert [await store.load(one) for one in (key, inner)] == [None, None]

    asyncio.run(work())
    assert list(vault.sessions.list()) == []
    assert vault.recall("which colour do I like?") == []


INNER: "SessionKey" = {**KEY, "subpath": "subagents/agent-1"}


def _now() -> str:
    return datetime.now(UTC).isoformat()


LONG_AGO = {"timestamp": (datetime.now(UTC) - timedelta(days=30)).isoformat()}
TWO_DAYS: "list[SessionStoreEntry]" = [
    cast("SessionStoreEntry", {**_said(1, "user", "My colour is teal."), **LONG_AGO}),
    _entry(uuid="t", result="teal"),
    cast("SessionStoreEntry", {**_said(2, "user", "Good morning."), "timestamp": _now()}),
]


def _kept(vault: Vault) -> str:
    """Everything that the store says of its transcripts."""
    store = RecollectumSessionStore(vault)
    loaded = [asyncio.run(store.load(key)) for key in (KEY, INNER)]
    return json.dumps([loaded, asyncio.run(store.list_sessions(PROJECT)), asyncio.run(_summaries(store))])


async def _summaries(store: RecollectumSessionStore) -> object:
    return [one["data"] for one in await store.list_session_summaries(PROJECT)]


def _filled(vault: Vault) -> str:
    """Keep a transcript with that of a subagent; return the id of the recorded conversation."""
    store = RecollectumSessionStore(vault)
    asyncio.run(store.append(KEY, TWO_DAYS))
    asyncio.run(store.append(INNER, [_entry(uuid="i", isSidechain=True, result="teal")]))
    other = cast("SessionStoreEntry", {**_said(9, "user", "Hello."), "sessionId": "other", "timestamp": _now()})
    asyncio.run(store.append({**KEY, "session_id": "other"}, [other]))
    (found,) = [one.id for one in vault.sessions.list(key_prefix=str(key_of(TALK)))]
    return found


@pytest.mark.parametrize("how", ["purge", "delete"])
def test_a_transcript_goes_with_the_whole_conversation(vault: Vault, how: str) -> None:
    conversation = _filled(vault)
    assert "teal" in _kept(vault)
    if how == "purge":
        purge = vault.privacy.purge
        preview = purge.preview(PurgeRequest.sessions(conversation))
        # The conversation, and the transcripts of it and of its subagent.
        assert preview.counts["sessions"] == 3
        assert purge.run(preview.token).state is PurgeState.DONE
    else:
        assert vault.sessions.delete(conversation)
    assert "teal" not in _kept(vault)
    assert TALK not in _kept(vault)
    assert "other" in _kept(vault)


def test_an_entry_goes_with_the_message_that_was_made_from_it(vault: Vault) -> None:
    _filled(vault)
    purge = vault.privacy.purge
    assert purge.run(purge.preview(PurgeRequest.older_than(20)).token).state is PurgeState.DONE
    assert "My colour" not in _kept(vault)
    assert asyncio.run(RecollectumSessionStore(vault).load(KEY)) == TWO_DAYS[1:]
    # The list is made from what is left, and goes on.
    assert "Good morning." in json.dumps(asyncio.run(_summaries(RecollectumSessionStore(vault))))


def test_a_transcript_stays_while_a_part_of_the_conversation_does(vault: Vault) -> None:
    first = _filled(vault)
    vault.sessions.chat(first).end()
    vault.sessions.open_key(key_of(TALK)).add("user", "Good evening.")
    purge = vault.privacy.purge
    assert purge.run(purge.preview(PurgeRequest.sessions(first)).token).state is PurgeState.DONE
    assert "My colour" not in _kept(vault)
    assert asyncio.run(RecollectumSessionStore(vault).load(KEY)) == [TWO_DAYS[1]]


def test_writers_at_the_same_time_lose_no_entry_and_no_summary(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = ("customTitle", "lastPrompt", "summary", "gitBranch")
    together = Barrier(len(fields))

    def wait_and_fold(*arguments: Any) -> Any:  # noqa: ANN401  (those of the SDK)
        # All have read the transcript before any of them writes.
        together.wait(10)
        return fold_session_summary(*arguments)

    async def work() -> None:
        stores = {name: RecollectumSessionStore(vault) for name in fields}
        batches = {name: [_entry(uuid=f"{name}-{at}", **{name: name}) for at in range(5)] for name in fields}
        with monkeypatch.context() as patch:
            patch.setattr(session_store, "fold_session_summary", wait_and_fold)
            await asyncio.gather(*(stores[name].append(KEY, batches[name]) for name in fields))
        entries = await stores["summary"].load(KEY) or []
        assert len(entries) == sum(map(len, batches.values()))
        for batch in batches.values():
            assert [one for one in entries if one in batch] == batch
        wanted = fold_session_summary(None, KEY, entries)["data"]
        (summary,) = await stores["summary"].list_session_summaries(PROJECT)
        assert summary["data"] == wanted
        await stores["summary"].append(KEY, [_entry(customTitle="later")])
        (summary,) = await stores["summary"].list_session_summaries(PROJECT)
        assert summary["data"] == {**wanted, "custom_title": "later"}

    asyncio.run(work())


def test_a_name_that_no_session_can_have_is_refused(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match="control character"):
        asyncio.run(RecollectumSessionStore(vault).append({**KEY, "session_id": "a\n"}, [_entry()]))
    assert list(vault.sessions.list()) == []


def test_an_entry_that_fails_leaves_nothing_behind(vault: Vault) -> None:
    store = RecollectumSessionStore(vault)
    with pytest.raises(TypeError):
        asyncio.run(store.append(KEY, [*TEAL, _entry(bad=object())]))
    assert asyncio.run(store.load(KEY)) is None
    assert list(vault.sessions.list()) == []


def _chats(vault: Vault) -> list[Any]:
    return [vault.sessions.chat(one.id).transcript() for one in vault.sessions.list()]
