"""Keeps a session of the OpenAI Agents SDK in a vault: the items as the SDK wrote them, and their texts for recall.

It has the methods of the SDK's `Session` protocol, and imports nothing of the SDK.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from recollectum.adapters.packing import pack_json, unpack_json
from recollectum.adapters.redacted_items import without_secrets
from recollectum.adapters.session_log import SessionLog, finished, last_to_first
from recollectum.context.echoes import marked_blocks
from recollectum.context.served import may_hold_blocks
from recollectum.domain.message import Json, Role, text_of
from recollectum.vault.intake.draft import MAX_PAGE
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

    from recollectum.domain.message import Message, Part
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_AGENT, _CHANNEL = "openai-agents", "sessions"
_ITEM, _POPPED = "openai_item", "popped"
#: So many messages are read beyond the items that are wanted: some may say that an item was popped.
_SPARE = 4
#: The fields of an item that somebody said, and nothing more.
_SAID = ("role", "content")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}


class RecollectumSession:
    """A session of the OpenAI Agents SDK in a vault; recall finds what was said in it, from any other session.

    A cleared session is destroyed. A popped item is not given to a model again, but stays in the transcript.
    """

    def __init__(
        self,
        session_id: str,
        vault: "Vault",
        *,
        agent: str = _AGENT,
        session_settings: "SessionSettings | None" = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._log = SessionLog(vault, agent, _CHANNEL)

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """Return the latest items in order; all of them without a limit, or below 0."""
        most = limit if limit is not None else _limit_of(self.session_settings)
        found = await asyncio.to_thread(self._load, most)
        return cast("list[TResponseInputItem]", found)

    async def add_items(self, items: "list[TResponseInputItem]") -> None:
        """Add items in one transaction, which a cancelled task does not interrupt."""
        said = [_message(cast("Mapping[str, Json]", item)) for item in items]
        if said:
            await finished(asyncio.to_thread(self._log.add, self.session_id, said, title=self.session_id))

    async def pop_item(self) -> "TResponseInputItem | None":
        """Remove the newest item and return it; None when there is none."""
        return cast("TResponseInputItem | None", await finished(asyncio.to_thread(self._pop)))

    async def clear_session(self) -> None:
        """Destroy the session."""
        await finished(asyncio.to_thread(lambda: self._log.delete(self.session_id)))

    def _open(self) -> "Chat":
        return self._log.open(self.session_id, title=self.session_id)

    def _load(self, most: int | None) -> list[dict[str, Json]]:
        wanted = most if most is not None and most >= 0 else None
        latest = islice(self._last_items(MAX_PAGE if wanted is None else wanted + _SPARE), wanted)
        return [_item(message) for message in latest][::-1]

    def _last_items(self, first: int) -> "Iterator[Message]":
        """Return the messages of items that were not popped, the newest first; `first` is how many are read at once."""
        chat = self._log.find(self.session_id)
        popped: set[Json] = set()
        for message in last_to_first(chat, first) if chat else ():
            if _POPPED in message.extra:
                # It comes after the item, so it is read before it.
                popped.add(_position(message.extra[_POPPED]))
            elif _ITEM in message.extra and message.position not in popped:
                yield message

    def _pop(self) -> dict[str, Json] | None:
        while (newest := next(self._last_items(_SPARE), None)) is not None:
            mark: dict[str, Json] = {"position": newest.position, "by": uuid4().hex}
            # The same native id is stored once: of two that pop one item, the second one takes the next.
            native = f"popped:{newest.position}"
            (stored,) = self._open().add_many(
                [NewMessage(role="info", content="", native_id=native, extra={_POPPED: mark})]
            )
            if stored.extra[_POPPED] == mark:
                return _item(newest)
        return None


def _position(mark: Json) -> Json:
    return mark.get("position") if isinstance(mark, Mapping) else None


def _limit_of(settings: object) -> int | None:
    if isinstance(settings, Mapping):
        return cast("Mapping[str, int | None]", settings).get("limit")
    return getattr(settings, "limit", None)


def _message(item: Mapping[str, Json]) -> NewMessage:
    """Return a message with the text of an item for recall, and the item itself if it says more than the message."""
    role, said = (item.get(name) for name in _SAID)
    if len(item) == len(_SAID) and isinstance(role, str) and role in _ROLES and isinstance(said, str):  # noqa: SIM102
        # Text in which memory may recognise itself is cut in the message, so that item is kept beside it.
        if not (may_hold_blocks(said) or marked_blocks(said)):
            return NewMessage(role=_ROLES[role], content=said, extra={_ITEM: role})
    kept = without_secrets(item)
    return NewMessage(role=_role(kept), content=_text(kept), extra={_ITEM: pack_json(kept)})


def _item(message: "Message") -> dict[str, Json]:
    """Return the item that a message was made of."""
    kept = message.extra[_ITEM]
    return {"role": kept, "content": message.text} if isinstance(kept, str) else unpack_json(kept)


def _role(item: Mapping[str, Json]) -> Role:
    role = item.get("role")
    if isinstance(role, str):
        return _ROLES.get(role, Role.INFO)
    return Role.TOOL if str(item.get("type", "")).endswith("_output") else Role.ASSISTANT


def _text(item: Mapping[str, Json]) -> str:
    said = item.get("content", item.get("output"))
    if isinstance(said, str):
        return said
    parts = said if isinstance(said, Sequence) else ()
    return text_of(tuple(cast("Part", part) for part in parts if isinstance(part, Mapping)))
