"""Each adapter keeps its state in a home on every engine, encrypted and not."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from llama_index.core.base.llms.types import ChatMessage
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelRequest, UserPromptPart

from recollectum import Recollectum, Vault
from recollectum.adapters.adk import RecollectumSessionService
from recollectum.adapters.anthropic import RecollectumMemoryTool
from recollectum.adapters.claude_agent import RecollectumSessionStore
from recollectum.adapters.claude_agent.conversations import key_of
from recollectum.adapters.langgraph import RecollectumSaver, RecollectumStore
from recollectum.adapters.llama_index import RecollectumChatStore
from recollectum.adapters.openai_agents import RecollectumSession
from recollectum.adapters.pydantic_ai import RecollectumConversationStore
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.purge.request import PurgeRequest, PurgeState

if TYPE_CHECKING:
    from claude_agent_sdk.types import SessionKey, SessionStoreEntry

_CLAUDE: "SessionKey" = {"project_key": "p", "session_id": "c"}
_SAID = {
    "type": "user",
    "uuid": "u",
    "sessionId": "c",
    "timestamp": "2026-11-01T10:00:00Z",
    "message": {"content": "hi"},
}
_LINES = [cast("SessionStoreEntry", _SAID), cast("SessionStoreEntry", {"type": "tag"})]
_ADK: dict[str, Any] = {"app_name": "demo", "user_id": "ann", "session_id": "s"}
_NOTE = {"command": "create", "path": "/memories/tea.md", "file_text": "likes tea"}
_PROMPT = ModelRequest(parts=[UserPromptPart("the door is Teal")])
_LOOK = {"command": "view", "path": "/memories/tea.md"}


@pytest.mark.slow
def test_what_an_adapter_wrote_is_there_when_the_home_is_opened_again(
    engine_settings: dict[str, object], tmp_path: Path
) -> None:
    with Recollectum(tmp_path / "home", settings=engine_settings, embedder=ScriptedEmbedder()) as home:
        _write_langgraph(home)
        asyncio.run(
            _session(home).add_items([{"role": "user", "content": "kept"}, {"role": "user", "content": "gone"}])
        )
        asyncio.run(_session(home).pop_item())
        asyncio.run(RecollectumSessionService(home).create_session(**_ADK, state={"user:colour": "teal", "n": 1}))
        RecollectumMemoryTool(home.vault("user:ann")).call(_NOTE)
        asyncio.run(_write_conversations(home.vault("user:ann")))
    with Recollectum(tmp_path / "home", settings=engine_settings, embedder=ScriptedEmbedder()) as home:
        _read_langgraph(home)
        assert asyncio.run(_session(home).get_items()) == [{"role": "user", "content": "kept"}]
        found = asyncio.run(RecollectumSessionService(home).get_session(**_ADK))
        assert found is not None
        assert found.state == {"user:colour": "teal", "n": 1}
        assert "likes tea" in str(RecollectumMemoryTool(home.vault("user:ann")).call(_LOOK))
        asyncio.run(_read_conversations(home.vault("user:ann")))


async def _write_conversations(vault: Vault) -> None:
    chats, conversations = RecollectumChatStore(vault), RecollectumConversationStore(vault)
    await chats.add_messages("c", [ChatMessage("Old"), ChatMessage("New")])
    await chats.archive_oldest_messages("c", 1)
    await conversations.save(Conversation(messages=[_PROMPT], conversation_id="c"))
    await conversations.fork("c", new_conversation_id="d")
    await conversations.delete("c")
    await RecollectumSessionStore(vault).append(_CLAUDE, _LINES)
    await RecollectumSessionStore(vault).append({**_CLAUDE, "subpath": "x"}, [{"type": "user"}])


async def _read_conversations(vault: Vault) -> None:
    chats, conversations = RecollectumChatStore(vault), RecollectumConversationStore(vault)
    assert await chats.get_messages("c") == [ChatMessage("New")]
    assert await conversations.load("c") is None
    fork = await conversations.load("d")
    assert fork is not None
    assert fork.messages == [_PROMPT]
    entries = RecollectumSessionStore(vault)
    assert await entries.load(_CLAUDE) == _LINES
    assert await entries.list_subkeys(_CLAUDE) == ["x"]
    assert [one["session_id"] for one in await entries.list_session_summaries("p")] == ["c"]
    (recorded,) = vault.sessions.list(key_prefix=str(key_of("c")))
    purge = vault.privacy.purge
    assert purge.run(purge.preview(PurgeRequest.sessions(recorded.id)).token).state is PurgeState.DONE
    assert await entries.load(_CLAUDE) is None
    assert await entries.list_subkeys(_CLAUDE) == []


def _session(home: Recollectum) -> RecollectumSession:
    return RecollectumSession("chat", home.vault("user:ann"))


def _write_langgraph(home: Recollectum) -> None:
    store, saver = RecollectumStore(home.vault("user:ann")), RecollectumSaver(home.vault("user:ann"))
    store.put(("memories", "home"), "door", {"text": "the door is Teal"})
    store.put(("memories", "work"), "report", {"text": "the report is grey"}, ttl=60)
    store.put(("memories", "home"), "gone", {"text": "the door is red"})
    store.delete(("memories", "home"), "gone")
    saver.put({"configurable": {"thread_id": "t"}}, empty_checkpoint(), {"step": 3}, {})


def _read_langgraph(home: Recollectum) -> None:
    store, saver = RecollectumStore(home.vault("user:ann")), RecollectumSaver(home.vault("user:ann"))
    assert [item.value for item in store.search(("memories", "home"), query="teal door")] == [
        {"text": "the door is Teal"}
    ]
    assert store.list_namespaces() == [("memories", "home"), ("memories", "work")]
    found = saver.get_tuple({"configurable": {"thread_id": "t"}})
    assert found is not None
    assert found.metadata == {"step": 3}
