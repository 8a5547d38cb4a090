"""What the installed versions of frameworks write to their own stores is imported row for row as they read it back."""

# pyright: reportMissingTypeStubs=false

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from google.adk.events import Event
from google.adk.sessions import BaseSessionService, DatabaseSessionService, Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from langgraph.store.sqlite import SqliteStore

from recollectum import Recollectum, Vault
from tests.adapters.mem0.faces import own_memory

TURNS = (
    ("user", Part(text="My colour is teal.")),
    ("root", Part(function_call=FunctionCall(id="c1", name="f", args={"q": 1}))),
    ("root", Part(function_response=FunctionResponse(id="c1", name="f", response={"r": [None]}))),
    ("root", Part(text="Noted: „teal“.")),
)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        yield home.vault("user:ann")


def _import(vault: Vault, file: Path, form: str) -> None:
    """Import the file, and see that a second time changes nothing."""
    found = vault.admin.imports.preview([file])
    assert [one.form for one in found.contents] == [form]
    vault.admin.imports.run(found, people=found.people or None)
    again = vault.admin.imports.run(vault.admin.imports.preview([file]), people=found.people or None)
    assert [one.added + one.memories for one in again.files] == [0]


def _sqlite_service(file: Path) -> BaseSessionService:
    return SqliteSessionService(str(file))


def _database_service(file: Path) -> BaseSessionService:
    return DatabaseSessionService(f"sqlite+aiosqlite:///{file}")


@pytest.mark.parametrize("make", [_sqlite_service, _database_service])
def test_the_sessions_that_adk_wrote(vault: Vault, tmp_path: Path, make: Callable[[Path], BaseSessionService]) -> None:
    async def write(file: Path) -> list[Session | None]:
        service = make(file)
        for name in ("s1", "s2"):
            session = await service.create_session(app_name="demo", user_id="ann", session_id=name)
            for author, part in TURNS:
                content = Content(role="user" if author == "user" else "model", parts=[part])
                await service.append_event(session, Event(author=author, content=content))
        found = [await service.get_session(app_name="demo", user_id="ann", session_id=name) for name in ("s1", "s2")]
        if isinstance(service, DatabaseSessionService):
            await service.close()
        return found

    file = tmp_path / "sessions.db"
    sessions = asyncio.run(write(file))
    _import(vault, file, "ADK sessions database")
    wanted = sorted((one.id, str(one.author)) for session in sessions if session for one in session.events)
    chats = [vault.sessions.chat(one.id).transcript() for one in vault.sessions.list()]
    assert (
        sorted((str(one.native_id), str(one.extra.get("author", "user"))) for chat in chats for one in chat) == wanted
    )
    for chat in chats:
        assert [one.role.value for one in chat] == ["user", "assistant", "tool", "assistant"]
        assert [one.text for one in chat] == [part.text or "" for _, part in TURNS]
        assert [(call.name, call.args, call.result) for one in chat for call in one.tool_calls] == [
            ("f", {"q": 1}, None),
            ("f", {}, {"r": [None]}),
        ]


def test_the_store_that_langgraph_wrote(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with SqliteStore.from_conn_string(str(file)) as store:
        store.setup()
        for number in range(5):
            store.put(("memories", "ann"), f"k{number}", {"text": f"Ann likes teal {number}"})
            store.put(("facts",), f"k{number}", {"place": "Acme", "since": number, "more": [None, "größe"]})
        store.delete(("facts",), "k0")
        items = [*store.search(("memories",)), *store.search(("facts",))]
    _import(vault, file, "LangGraph store")
    wanted = [
        str(item.value["text"]) if "text" in item.value else json.dumps(item.value, ensure_ascii=False, sort_keys=True)
        for item in items
    ]
    assert len(wanted) == 9
    assert sorted(one.content for one in vault.memories.list(limit=50)) == sorted(wanted)


def test_the_memories_that_mem0_extracted_and_changed(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = own_memory(tmp_path, monkeypatch)
    # Later than that, because the package reads its settings when it is imported.
    from mem0.llms.openai import OpenAILLM

    def extract(*_: object, **__: object) -> str:
        return json.dumps({"memory": [{"text": "Ann likes teal"}, {"text": "Ann lives in „Köln“"}]})

    monkeypatch.setattr(OpenAILLM, "generate_response", extract)
    said = [{"role": "user", "content": "I like teal and live in Köln."}]
    made = {one["memory"]: one["id"] for one in memory.add(said, user_id="ann")["results"]}
    sport = {"sport": True, "since": 2020, "where": ["Bergen", "Voss"]}
    memory.add("Ann plays tennis", user_id="ann", metadata=sport, infer=False)
    (gone,) = memory.add("Ann is tired", user_id="ann", infer=False)["results"]
    memory.update(made["Ann likes teal"], "Ann likes green")
    memory.delete(gone["id"])
    memory.add("Bob likes grey", user_id="bob", infer=False)
    kept = memory.get_all(filters={"user_id": "ann"})
    memory.vector_store.client.close()
    memory.close()
    wanted = sorted(one["memory"] for one in kept["results"])
    assert wanted == ["Ann likes green", "Ann lives in „Köln“", "Ann plays tennis"]
    # Where Qdrant keeps its vectors: it knows whose a memory is.
    (collection,) = (tmp_path / "qdrant").rglob("storage.sqlite")
    found = vault.admin.imports.preview([collection])
    assert (found.contents[0].form, found.people) == ("mem0 collection in Qdrant", ("ann", "bob"))
    vault.admin.imports.run(found, people=["ann"])
    said = [one for session in vault.sessions.list() for one in vault.sessions.chat(session.id).transcript()]
    given = [one.extra["metadata"] for one in said if "sport" in str(one.extra.get("metadata"))]
    assert [{name: one[name] for name in sport} for one in cast("list[dict[str, Any]]", given)] == [sport]
    assert sorted(one.content for one in vault.memories.list(limit=50)) == wanted
    # The answer of its API has the same memories: each is known by its text.
    file = tmp_path / "all.json"
    file.write_text(json.dumps(kept))
    _import(vault, file, "mem0 memories")
    assert sorted(one.content for one in vault.memories.list(limit=50)) == wanted
    # The history has those of everybody, and does not say whose they are.
    _import(vault, tmp_path / "h.db", "mem0 history database")
    assert sorted(one.content for one in vault.memories.list(limit=50)) == [*wanted, "Bob likes grey"]
