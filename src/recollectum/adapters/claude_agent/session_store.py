"""Keeps the transcripts of the Claude Agent SDK in a vault, entry by entry, so that a session goes on anywhere.

Each transcript is one session, and each entry one message without text: it is never recalled. What was said is
recorded beside it, under the key that the hooks and an import use.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast

from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import SessionStore

from recollectum.adapters.claude_agent.conversations import Conversations, key_of
from recollectum.adapters.packing import pack_json, unpack_json
from recollectum.adapters.session_log import SessionLog, finished, first_to_last
from recollectum.domain.session import ORIGIN, origin_of_summary, origin_of_transcript
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from claude_agent_sdk.types import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )

    from recollectum.domain.message import Json, Message
    from recollectum.domain.session import Session
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_AGENT = "claude-agent-sdk"
_HEAD, _ENTRY, _SUMMARY = "claude_head", "claude_entry", "claude_summary"


class RecollectumSessionStore(SessionStore):
    """A session store for `ClaudeAgentOptions(session_store=…)`: entries come back as the SDK wrote them.

    Give a vault, or a function that returns the vault of a project key.
    """

    def __init__(self, vault: "Vault | Callable[[str], Vault]") -> None:
        self._vault = vault
        #: The names of transcripts by the ids of their sessions; a session never gets another name.
        self._names: dict[str, str] = {}

    async def append(self, key: "SessionKey", entries: "list[SessionStoreEntry]") -> None:
        """Add entries in one transaction; one whose `uuid` is there already is left out."""
        if entries:
            await finished(asyncio.to_thread(self._append, key, entries))

    async def load(self, key: "SessionKey") -> "list[SessionStoreEntry] | None":
        """Return the entries of a transcript in order, or None when there is none."""
        return await asyncio.to_thread(self._load, key)

    async def list_sessions(self, project_key: str) -> "list[SessionStoreListEntry]":
        """Return the sessions of a project, each with the time of its last change."""
        return await asyncio.to_thread(self._list, project_key)

    async def list_session_summaries(self, project_key: str) -> "list[SessionSummaryEntry]":
        """Return the SDK's summaries of the sessions of a project."""
        return await asyncio.to_thread(self._summaries, project_key)

    async def delete(self, key: "SessionKey") -> None:
        """Destroy a transcript; without a subpath all transcripts of the session, and the recorded conversation."""
        await finished(asyncio.to_thread(self._delete, key))

    async def list_subkeys(self, key: "SessionListSubkeysKey") -> list[str]:
        """Return the subpaths of a session."""
        return await asyncio.to_thread(self._subkeys, key["project_key"], key["session_id"])

    def _append(self, key: "SessionKey", entries: "Sequence[SessionStoreEntry]") -> None:
        log, name = self._place(key)
        conversation, recorded = key_of(key["session_id"]), dict[str, str]()
        if "subpath" not in key:
            # First: the SDK hands in again what failed, and what is recorded already is known by its id.
            conversations = Conversations(self._of(key["project_key"]))
            said = conversations.read([json.dumps(one).encode() for one in entries])
            recorded = {str(one.native_id): one.id for one in conversations.add(key["session_id"], said)}
        chat = log.open(name, title=" ".join([key["session_id"], *([name] if "subpath" in key else [])]))
        last = _last(chat)
        head = [] if last else [_head(name, origin_of_transcript(conversation))]
        added = [*head, *(_message(one, recorded.get(str(one.get("uuid")))) for one in entries)]
        if "subpath" not in key:
            folded = fold_session_summary(_summary(chat, key, last), key, list(entries))
            at = (last.position if last else 0) + len(added) + 1
            added.append(_record(_SUMMARY, {"data": folded["data"], "at": at}, origin_of_summary(conversation)))
        chat.add_many(added)

    def _load(self, key: "SessionKey") -> "list[SessionStoreEntry] | None":
        log, name = self._place(key)
        chat = log.find(name)
        return list(_entries(chat)) if chat else None

    def _list(self, project_key: str) -> "list[SessionStoreListEntry]":
        return [
            {"session_id": name, "mtime": _milliseconds(one.updated_at)}
            for one, name in self._named(self._log(project_key))
        ]

    def _summaries(self, project_key: str) -> "list[SessionSummaryEntry]":
        log = self._log(project_key)
        found: list[SessionSummaryEntry] = []
        for one, name in self._named(log):
            chat = log.chat(one)
            summary = _summary(chat, {"project_key": project_key, "session_id": name}, _last(chat))
            if summary:
                found.append({**summary, "mtime": _milliseconds(one.updated_at)})
        return found

    def _subkeys(self, project_key: str, session_id: str) -> list[str]:
        return [name for _, name in self._named(self._log(project_key, session_id))]

    def _delete(self, key: "SessionKey") -> None:
        log, name = self._place(key)
        log.delete(name)
        if "subpath" not in key:
            inner = self._log(key["project_key"], name)
            for subpath in self._subkeys(key["project_key"], name):
                inner.delete(subpath)
            Conversations(self._of(key["project_key"])).delete(name)

    def _place(self, key: "SessionKey") -> tuple[SessionLog, str]:
        """Return the log that a transcript is in, and its name there."""
        if "subpath" in key:
            return self._log(key["project_key"], key["session_id"]), key["subpath"]
        return self._log(key["project_key"]), key["session_id"]

    def _log(self, *names: str) -> SessionLog:
        """Return the transcripts of a project, or those below one session of it."""
        # A digest: names may hold anything, and one log must not be the beginning of another.
        channel = blake2b(json.dumps(names).encode(), digest_size=16).hexdigest()
        return SessionLog(self._of(names[0]), _AGENT, channel)

    def _of(self, project_key: str) -> "Vault":
        return self._vault(project_key) if callable(self._vault) else self._vault

    def _named(self, log: SessionLog) -> "Iterator[tuple[Session, str]]":
        for one in log.list():
            if one.id not in self._names and (name := _name(log.chat(one))) is not None:
                self._names[one.id] = name
            if one.id in self._names:
                yield one, self._names[one.id]


def _record(kind: str, value: "dict[str, Json]", origin: str | None, native_id: str | None = None) -> NewMessage:
    """Return a record that is erased with its origin."""
    extra = {kind: pack_json(value), **({ORIGIN: origin} if origin else {})}
    return NewMessage(role="info", content="", native_id=native_id, extra=extra)


def _head(name: str, origin: str) -> NewMessage:
    # The same native id is stored once, also when two processes begin a transcript.
    return _record(_HEAD, {"name": name}, origin, _HEAD)


def _message(entry: "SessionStoreEntry", origin: str | None) -> NewMessage:
    given = entry.get("uuid")
    native = f"{_ENTRY}:{given}" if isinstance(given, str) else None
    return _record(_ENTRY, cast("dict[str, Json]", entry), origin, native)


def _name(chat: "Chat") -> str | None:
    first = next(iter(chat.transcript(limit=1)), None)
    return str(unpack_json(first.extra[_HEAD])["name"]) if first and _HEAD in first.extra else None


def _last(chat: "Chat") -> "Message | None":
    return next(iter(chat.messages(limit=1)), None)


def _entries(chat: "Chat") -> "Iterator[SessionStoreEntry]":
    for one in first_to_last(chat):
        if _ENTRY in one.extra:
            yield cast("SessionStoreEntry", unpack_json(one.extra[_ENTRY]))


def _summary(chat: "Chat", key: "SessionKey", last: "Message | None") -> "SessionSummaryEntry | None":
    """Return the summary of a transcript: the last message has it, unless two processes wrote at once."""
    kept = unpack_json(last.extra[_SUMMARY]) if last and _SUMMARY in last.extra else {}
    if last and kept.get("at") == last.position:
        return {"session_id": key["session_id"], "mtime": 0, "data": cast("dict[str, Any]", kept["data"])}
    return fold_session_summary(None, key, list(_entries(chat))) if last else None


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
