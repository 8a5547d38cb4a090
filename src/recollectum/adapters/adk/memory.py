"""Gives the Agent Development Kit its long-term memory: what was said to an app, found by words and by meaning."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, cast

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.platform import uuid as adk_uuid
from google.genai import types

from recollectum.adapters.adk.events import content_text
from recollectum.adapters.adk.homes import ServiceHome
from recollectum.adapters.adk.sessions import CHANNEL
from recollectum.adapters.documents import Document, Documents, Folder, ask_steps
from recollectum.adapters.session_log import SessionLog
from recollectum.domain.errors import NotFound
from recollectum.domain.message import Json, ToolUse

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.adk.sessions import Session

    from recollectum.domain.hit import Hit
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

_KIND, _DELETED_KIND = "adk", "adkgone"
_USER = "user"
#: ADK puts every result into a prompt, and its call has no limit.
_RESULTS = 10
#: So many hits are looked at for each result: state, which nobody said, is among them.
_SPARE = 3

New = tuple[str, dict[str, Json]]


class RecollectumMemoryService(BaseMemoryService):
    """ADK's memory service on vaults: a search is recall in what was said to the app, by this user alone.

    Sessions that `RecollectumSessionService` keeps are searched as they are; adding them again stores nothing.
    """

    def __init__(
        self, home: "Recollectum | None" = None, *, uri: str | None = None, results: int = _RESULTS, **_: object
    ) -> None:
        self._home = ServiceHome(home, uri)
        self._results = results

    async def add_session_to_memory(self, session: "Session") -> None:
        """Add the events of a session; those that are there already, or were deleted, change nothing."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: "Sequence[Event]",
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events that have words."""
        new = [
            (event.id, _body(event.author, event.timestamp, text, custom_metadata))
            for event in events
            if (text := content_text(event.content))
        ]
        await asyncio.to_thread(self._add, app_name, user_id, session_id, new)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories as they are."""
        new: list[New] = []
        for memory in memories:
            if text := content_text(memory.content):
                metadata = {**(custom_metadata or {}), **memory.custom_metadata}
                body = _body(memory.author or _USER, memory.timestamp, text, metadata)
                new.append((memory.id or adk_uuid.new_uuid(), body))
        await asyncio.to_thread(self._add, app_name, user_id, None, new)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what was said to the app and has to do with a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        return await asyncio.to_thread(self._search, app_name, user_id, query)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one memory by the id that a search gave, or all that were added; none comes back when added again."""
        await asyncio.to_thread(self._delete, app_name, user_id, memory_id)

    async def close(self) -> None:
        """Close the home, if this service opened it."""
        await asyncio.to_thread(self._home.close)

    def _add(self, app_name: str, user_id: str, session_id: str | None, new: list[New]) -> None:
        vault = self._home.user(user_id)
        if not new or (session_id is not None and SessionLog(vault, app_name, CHANNEL).has(session_id)):
            # Its messages are found already.
            return
        folder: Folder = (app_name, session_id or "")
        gone = {one.name for one in Documents(vault, _DELETED_KIND, app_name).list((app_name,))}
        documents = Documents(vault, _KIND, app_name)
        kept = [(folder, name, body, None) for name, body in new if name not in gone]
        documents.save(one for one in kept if one[2]["author"] == _USER)
        # What a model said is not the word of the person.
        use = ToolUse(tool="memory", agent=app_name, channel=CHANNEL)
        documents.save((one for one in kept if one[2]["author"] != _USER), said_by=use)

    def _search(self, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        vault = self._home.user(user_id)
        documents = Documents(vault, _KIND, app_name)
        found: list[MemoryEntry] = []
        for limit in ask_steps(self._results, _SPARE * self._results):
            hits = vault.recall(query, limit=limit, agent=app_name)
            told = [hit for hit in hits if not _is_question(vault, hit, query)]
            found = list(islice(_entries(told, documents), self._results))
            if len(found) == self._results or len(hits) < limit:
                break
        return SearchMemoryResponse(memories=found)

    def _delete(self, app_name: str, user_id: str, memory_id: str | None) -> None:
        vault = self._home.user(user_id)
        documents = Documents(vault, _KIND, app_name)
        for one in list(documents.list((app_name,))) if memory_id is None else _one(documents, vault, memory_id):
            Documents(vault, _DELETED_KIND, app_name).save([((app_name,), one.name, {}, None)])
            documents.forget_memory(one.memory)


def _is_question(vault: "Vault", hit: "Hit", query: str) -> bool:
    """Return whether a hit is the question itself: our session service records it before it is answered."""
    if hit.text.strip() != query.strip() or hit.source.session_id is None:
        return False
    last = vault.sessions.chat(hit.source.session_id).messages(limit=1)
    return bool(last) and last[0].id == hit.source.message_id


def _one(documents: Documents, vault: "Vault", memory_id: str) -> list[Document]:
    found = documents.of_memory(memory_id)
    if found is None:
        raise NotFound(f"there is no memory {memory_id!r} of {vault.owner} that was added; a session is deleted whole")
    return [found]


def _body(author: str, at: float | str | None, text: str, metadata: Mapping[str, object] | None) -> dict[str, Json]:
    when = datetime.fromtimestamp(at, UTC).isoformat() if isinstance(at, int | float) else at
    body: dict[str, Json] = {"text": text, "author": author, "timestamp": when}
    return {**body, "metadata": cast("Json", dict(metadata))} if metadata else body


def _entries(hits: "Sequence[Hit]", documents: Documents) -> Iterator[MemoryEntry]:
    """Return hits as ADK shows them, each memory and message once."""
    named: dict[str, Hit] = {}
    for hit in hits:
        named.setdefault(str(hit.source.memory_id or hit.source.message_id), hit)
    ids = [name for name, hit in named.items() if hit.source.memory_id]
    added = {one.memory.id: one for one in documents.of_memories(ids)}
    entries = (_entry_of_hit(hit, added.get(name)) for name, hit in named.items())
    return (one for one in entries if one is not None)


def _entry_of_hit(hit: "Hit", found: Document | None) -> MemoryEntry | None:
    """Return a hit, and the document if it is one, as ADK shows it; None for state and other texts that nobody said."""
    if hit.source.memory_id is None:
        return _entry(str(hit.source.message_id), hit.text, hit.author, hit.created_at.isoformat(), {})
    if found is not None:
        body = found.body
        metadata = body.get("metadata")
        known = dict(cast("Mapping[str, object]", metadata)) if isinstance(metadata, Mapping) else {}
        stamp = body.get("timestamp")
        return _entry(found.memory.id, str(body["text"]), str(body["author"]), str(stamp) if stamp else None, known)
    if hit.text.startswith("{"):
        return None
    return _entry(hit.source.memory_id, hit.text, hit.author, hit.created_at.isoformat(), {})


def _entry(id: str, text: str, author: str, stamp: str | None, metadata: dict[str, object]) -> MemoryEntry:
    content = types.Content(role="user" if author == _USER else "model", parts=[types.Part(text=text)])
    return MemoryEntry(id=id, content=content, author=author, timestamp=stamp, custom_metadata=metadata)
