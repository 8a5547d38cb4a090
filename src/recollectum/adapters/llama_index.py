"""Keeps the chat history of LlamaIndex's `Memory` in a vault, and recalls what other conversations said.

A conversation is one session. A message that LlamaIndex deletes or archives stays in the transcript: a later message
without text says what became of it.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import ConfigDict, PrivateAttr

from recollectum.adapters.packing import pack_json, unpack_json
from recollectum.adapters.redacted_items import without_secrets
from recollectum.adapters.session_log import SessionLog, finished, first_to_last
from recollectum.domain.message import Json, Role
from recollectum.domain.records import dataclass
from recollectum.vault.context.injection import PROMPT_TOKENS, inject_at_prompt
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_AGENT, _CHANNEL = "llama-index", "chats"
_ITEM, _MOVED, _TO, _GONE = "llama_message", "moved", "to", "gone"
_ACTIVE = MessageStatus.ACTIVE
#: Fields with the bytes of a picture or a recording, and ids of calls.
_OPAQUE = frozenset({"image", "video", "block_type", "tool_call_id", "tool_id"})
_ROLES = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
    MessageRole.SYSTEM: Role.SYSTEM,
    MessageRole.DEVELOPER: Role.SYSTEM,
}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A message that was not deleted."""

    position: int
    status: str
    item: dict[str, Json]

    def message(self) -> ChatMessage:
        """Return the message as LlamaIndex wrote it."""
        return ChatMessage.model_validate(self.item["message"])


class RecollectumChatStore(AsyncDBChatStore):
    """A chat store for `Memory.from_defaults(chat_store=…)`; recall finds what was said, from any other conversation.

    The index of a message is its position in the conversation. Deleting all messages of a key destroys the session.
    """

    _log: SessionLog = PrivateAttr()

    def __init__(self, vault: "Vault", *, agent: str = _AGENT) -> None:
        super().__init__()
        self._log = SessionLog(vault, agent, _CHANNEL)

    async def get_messages(
        self, key: str, status: MessageStatus | None = _ACTIVE, limit: int | None = None, offset: int | None = None
    ) -> list[ChatMessage]:
        """Return the messages of a status, or all of them, oldest first."""
        found = (await asyncio.to_thread(self._kept, key, status))[offset or 0 :]
        return [one.message() for one in found[:limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = _ACTIVE) -> int:
        """Return how many messages have a status, or how many there are."""
        return len(await asyncio.to_thread(self._kept, key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = _ACTIVE) -> None:
        """Add a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = _ACTIVE) -> None:
        """Add messages in one transaction."""
        await self._write(key, [_new(key, one, status) for one in messages])

    async def set_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = _ACTIVE) -> None:
        """Replace all messages of a key, in one transaction."""
        held = await asyncio.to_thread(self._kept, key, None)
        await self._write(key, [*_moved(held, _GONE), *(_new(key, one, status) for one in messages)])

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the message at a position and return it; None when there is none."""
        held = await asyncio.to_thread(self._kept, key, None)
        gone = await self._move(key, [one for one in held if one.position == idx], _GONE)
        return gone[0] if gone else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Delete the messages of a status; without one, destroy the session."""
        if status is None:
            await finished(asyncio.to_thread(self._log.delete, key))
        else:
            await self._move(key, await asyncio.to_thread(self._kept, key, status), _GONE)

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Delete the oldest active messages and return them."""
        return await self._move(key, (await asyncio.to_thread(self._kept, key, _ACTIVE))[:n], _GONE)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest active messages and return them."""
        oldest = (await asyncio.to_thread(self._kept, key, _ACTIVE))[:n]
        return await self._move(key, oldest, MessageStatus.ARCHIVED.value)

    async def get_keys(self) -> list[str]:
        """Return the keys that have messages, the oldest conversation first."""
        return await asyncio.to_thread(self._keys)

    async def _move(self, key: str, which: list[_Kept], to: str) -> list[ChatMessage]:
        await self._write(key, list(_moved(which, to)))
        return [one.message() for one in which]

    async def _write(self, key: str, said: list[NewMessage]) -> None:
        if said:
            await finished(asyncio.to_thread(self._log.add, key, said, title=key))

    def _kept(self, key: str, status: MessageStatus | None) -> list[_Kept]:
        chat = self._log.find(key)
        return [one for one in _fold(chat) if status is None or one.status == status.value] if chat else []

    def _keys(self) -> list[str]:
        first = (next(iter(_fold(self._log.chat(one))), None) for one in self._log.list())
        return [str(one.item["key"]) for one in first if one is not None][::-1]


class RecollectumMemoryBlock(BaseMemoryBlock[str]):
    """A block for `Memory.from_defaults(memory_blocks=[…])` that holds what a vault knows about the last question."""

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)
    name: str = "recollectum"
    tokens: int = PROMPT_TOKENS
    _vault: "Vault" = PrivateAttr()
    _log: SessionLog = PrivateAttr()

    def __init__(self, vault: "Vault", *, agent: str = _AGENT, **fields: Any) -> None:  # noqa: ANN401 - as the class
        super().__init__(**fields)
        self._vault = vault
        self._log = SessionLog(vault, agent, _CHANNEL)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ANN401
        said = (one.content for one in reversed(messages or []) if one.role is MessageRole.USER)
        return await asyncio.to_thread(self._recalled, next(said, None) or "", block_kwargs.get("session_id"))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Do nothing: the chat store has recorded every message already."""

    def _recalled(self, question: str, key: str | None) -> str:
        own = self._log.find(key) if key else None
        return inject_at_prompt(
            self._vault, question, sessions=[own.id] if own else [], told=(), tokens=self.tokens
        ).text


def _new(key: str, message: ChatMessage, status: MessageStatus) -> NewMessage:
    """Return a message with the text for recall, and the message itself."""
    written = cast("dict[str, Json]", message.model_dump(mode="json"))
    kept = without_secrets({"message": written}, _OPAQUE)
    text = ChatMessage.model_validate(kept["message"]).content or ""
    item: dict[str, Json] = {**kept, "key": key, "status": status.value}
    return NewMessage(role=_ROLES[message.role], content=text, extra={_ITEM: pack_json(item)})


def _moved(which: Iterable[_Kept], to: str) -> Iterator[NewMessage]:
    """Yield the message that says what became of some others, if there are any."""
    places = [one.position for one in which]
    if places:
        yield NewMessage(role="info", content="", extra={_MOVED: places, _TO: to})


def _fold(chat: "Chat") -> list[_Kept]:
    """Return the messages that are left, each with its status, in order."""
    kept: dict[int, _Kept] = {}
    for message in first_to_last(chat):
        if _ITEM in message.extra:
            item = unpack_json(message.extra[_ITEM])
            kept[message.position] = _Kept(message.position, str(item["status"]), item)
        elif _MOVED in message.extra:
            _apply(message, kept)
    return sorted(kept.values(), key=lambda one: one.position)


def _apply(mark: "Message", kept: dict[int, _Kept]) -> None:
    for position in cast("list[int]", mark.extra[_MOVED]):
        one = kept.pop(position, None)
        if one is not None and mark.extra[_TO] != _GONE:
            kept[position] = _Kept(position, str(mark.extra[_TO]), one.item)
