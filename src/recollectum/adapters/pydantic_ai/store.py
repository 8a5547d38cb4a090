"""Keeps the conversations of Pydantic AI in a vault.

A conversation is one session. Each save is one message without text that holds the record and its new entries; it is
named after the revision that it replaces, so of two saves of one revision only one is stored. What was said follows as
messages for recall.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, UserPromptPart

from recollectum.adapters.packing import pack_json, unpack_json
from recollectum.adapters.pydantic_ai.capability import AGENT, CHANNEL, texts_of
from recollectum.adapters.redacted_items import without_secrets
from recollectum.adapters.session_log import SessionLog, finished, first_to_last, last_to_first
from recollectum.domain.message import Json
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_SAVE, _UNTITLED = "pydantic_save", "conversation"
_RECORDS = TypeAdapter(ConversationRecord)
#: Fields that the framework and its providers write for themselves.
_OPAQUE = frozenset(
    {"conversation_id", "kind", "part_kind", "provider_response_id", "run_id", "signature", "tool_call_id"}
)
_Entries = dict[str, ConversationEntry]


class RecollectumConversationStore(ConversationStore):
    """A conversation store in a vault; recall finds what was said, from any other conversation.

    A deleted conversation is destroyed. A fork has a copy of the history it began with.
    """

    def __init__(self, vault: "Vault", *, agent: str = AGENT) -> None:
        self._log = SessionLog(vault, agent, CHANNEL)
        #: Where the last entry of a record that was read is.
        self._places: dict[str, str] = {}

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation, or None."""
        return await asyncio.to_thread(self._record, conversation_id)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> list[ConversationRecord]:
        """Return the records, or those of a scope, the last updated one first."""
        found = [one for one in await asyncio.to_thread(self._all) if scope is None or one.scope == scope]
        return sorted(found, key=lambda one: one.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record with its new entries, together; raise ConversationConflict when another one was stored."""
        await finished(asyncio.to_thread(self._write, record, list(new_entries), expected_revision))

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Destroy a conversation with its messages; raise ConversationConflict when it changed."""
        await finished(asyncio.to_thread(self._delete, conversation_id, expected_revision))

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return an entry; raise KeyError when there is none."""
        return (await asyncio.to_thread(self._entries, entry_id))[entry_id]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Return the entries up to one of them, or the last ones."""
        line = await asyncio.to_thread(self._history, head_id)
        return line[max(0, len(line) - limit) :] if limit is not None else line

    def _record(self, conversation_id: str) -> ConversationRecord | None:
        chat = self._log.find(conversation_id)
        record = _newest(chat) if chat else None
        if record and record.head_id:
            self._places[record.head_id] = conversation_id
        return record

    def _all(self) -> list[ConversationRecord]:
        found = (_newest(self._log.chat(one)) for one in self._log.list())
        return [one for one in found if one is not None]

    def _write(self, record: ConversationRecord, entries: list[ConversationEntry], expected: str | None) -> None:
        name = record.conversation_id
        stored = self._record(name)
        if (stored.revision if stored else None) != expected:
            raise ConversationConflict(name)
        if stored is None:
            # One whose deletion was interrupted.
            self._log.delete(name)
        borrowed: list[ConversationEntry] = []
        if record.head_id not in {one.id for one in entries}:
            try:
                borrowed = self._history(record.head_id)
            except KeyError:
                raise ConversationConflict(name) from None
        # Only a fork borrows, so that not every save reads all before it.
        own = self._own(name) if borrowed else {}
        copied = [_entry_json(one) for one in borrowed if one.id not in own]
        chat = self._log.open(name, title=name or _UNTITLED)
        before = _part(_last_save(chat), "entries")
        said = [_entry_json(one) for one in entries]
        _claim(chat, name, expected, {"record": _json(record), "copied": copied, "entries": said})
        # The save before may have been interrupted here. The same native id is stored once.
        chat.add_many([_spoken(one) for one in (*before, *entries)])

    def _delete(self, name: str, expected: str) -> None:
        stored, chat = self._record(name), self._log.find(name)
        if stored is None or chat is None or stored.revision != expected:
            raise ConversationConflict(name)
        # A save of the same revision is refused from here on.
        _claim(chat, name, expected, {"record": None, "copied": [], "entries": []})
        self._log.delete(name)

    def _own(self, name: str) -> _Entries:
        chat = self._log.find(name)
        return _entries_of(chat) if chat else {}

    def _entries(self, entry_id: str) -> _Entries:
        """Return the entries of the conversation that has one; raise KeyError when none has it."""
        if entry_id in (own := self._own(self._places.get(entry_id, ""))):
            return own
        for session in self._log.list():
            if entry_id in (own := _entries_of(self._log.chat(session))):
                return own
        raise KeyError(entry_id)

    def _history(self, head_id: str | None) -> list[ConversationEntry]:
        line: list[ConversationEntry] = []
        known = self._entries(head_id) if head_id else {}
        while head_id is not None:
            line.append(known[head_id])
            head_id = line[-1].parent_id
        return line[::-1]


def _claim(chat: "Chat", name: str, expected: str | None, save: dict[str, Json]) -> None:
    """Store a save after the revision that it replaces; raise when another save was first."""
    packed = pack_json(save)
    # The same native id is stored once: the second one is given the first one's message.
    native = f"after:{expected or ''}"
    (stored,) = chat.add_many([NewMessage(role="info", content="", native_id=native, extra={_SAVE: packed})])
    if list(cast("Sequence[int]", stored.extra[_SAVE])) != packed:
        raise ConversationConflict(name)


def _last_save(chat: "Chat") -> dict[str, Json]:
    saves = (unpack_json(one.extra[_SAVE]) for one in last_to_first(chat) if _SAVE in one.extra)
    return next(saves, {"record": None, "entries": []})


def _newest(chat: "Chat") -> ConversationRecord | None:
    record = _last_save(chat)["record"]
    return None if record is None else _RECORDS.validate_python(record)


def _entries_of(chat: "Chat") -> _Entries:
    saves = (unpack_json(one.extra[_SAVE]) for one in first_to_last(chat) if _SAVE in one.extra)
    return {one.id: one for save in saves for part in ("copied", "entries") for one in _part(save, part)}


def _part(save: dict[str, Json], name: str) -> list[ConversationEntry]:
    return [_entry(one) for one in cast("list[dict[str, Json]]", save[name])]


def _json(record: ConversationRecord) -> Json:
    return without_secrets(_RECORDS.dump_python(record, mode="json"), _OPAQUE | {"head_id", "revision", "forked_at"})


def _entry_json(entry: ConversationEntry) -> Json:
    (message,) = ModelMessagesTypeAdapter.dump_python([entry.message], mode="json")
    return {"id": entry.id, "parent": entry.parent_id, "message": without_secrets(message, _OPAQUE)}


def _entry(written: dict[str, Json]) -> ConversationEntry:
    (message,) = ModelMessagesTypeAdapter.validate_python([written["message"]])
    return ConversationEntry(id=str(written["id"]), parent_id=cast("str | None", written["parent"]), message=message)


def _spoken(entry: ConversationEntry) -> NewMessage:
    """Return the text of an entry for recall."""
    if isinstance(entry.message, ModelResponse):
        return NewMessage(role="assistant", content=entry.message.text or "", native_id=entry.id)
    prompts = [one for one in entry.message.parts if isinstance(one, UserPromptPart)]
    parts: list[object] = [getattr(one, "content", None) for one in prompts or entry.message.parts]
    text = "\n".join(map(texts_of, parts)).strip()
    return NewMessage(role="user" if prompts else "tool", content=text, native_id=entry.id)
