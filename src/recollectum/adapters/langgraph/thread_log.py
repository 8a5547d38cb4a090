"""Stores the checkpoints and writes of LangGraph threads: each thread is one session, and each record one message."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from recollectum.adapters.langgraph.packing import pack, pack_json, unpack, unpack_json
from recollectum.domain.message import Json
from recollectum.domain.page import every
from recollectum.domain.records import dataclass
from recollectum.domain.session import SessionKey
from recollectum.vault.intake.draft import MAX_PAGE
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_AGENT, _CHANNEL, _FIELD = "langgraph", "checkpoints", "langgraph"
_PAGE = 200
#: So many records before a checkpoint are read too: LangGraph may hand over its writes a moment before it.
MARGIN = 200

Blob = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A checkpoint, or writes of one task, as numbers; its head says what it is."""

    head: dict[str, Json]
    _blobs: Sequence[Json]

    @property
    def is_checkpoint(self) -> bool:
        """Whether this is a checkpoint."""
        return "task" not in self.head

    @property
    def place(self) -> tuple[str, str]:
        """The namespace and the id of the checkpoint that it is, or belongs to."""
        return str(self.head["ns"]), str(self.head["id"])

    @property
    def blobs(self) -> list[Blob]:
        """The serialised values, each with its type."""
        types = cast("Sequence[str]", self.head["types"])
        return [(kind, unpack(blob)) for kind, blob in zip(types, self._blobs, strict=True)]


class ThreadLog:
    """The records of every thread in one vault, in the order in which they came."""

    def __init__(self, vault: "Vault") -> None:
        self._vault = vault

    def add(self, thread: str, records: Sequence[tuple[dict[str, Json], Sequence[Blob]]]) -> None:
        """Append records to a thread in one transaction."""
        chat = self._vault.sessions.open_key(_key(thread))
        chat.add_many([_message(thread, head, blobs) for head, blobs in records])

    def forward(self, thread: str) -> Iterator[ThreadRecord]:
        """Return the records of a thread, first to last."""
        chat = self._find(thread)
        return iter(()) if chat is None else _forward(chat)

    def backward(self, thread: str) -> Iterator[ThreadRecord]:
        """Return the records of a thread, last to first."""
        chat = self._find(thread)
        return iter(()) if chat is None else _records(_last_first(chat))

    def threads(self) -> list[str]:
        """Return the ids of all threads, newest first."""
        prefix = str(_key(""))[: -len(_topic(""))]
        sessions = self._vault.sessions
        found = every(lambda cursor: sessions.list(key_prefix=prefix, cursor=cursor, limit=MAX_PAGE))
        heads = (next(_forward(sessions.chat(one.id)), None) for one in found)
        return [str(first.head["thread"]) for first in heads if first]

    def delete(self, thread: str) -> None:
        """Destroy a thread; nothing happens when there is none."""
        chat = self._find(thread)
        if chat is not None:
            self._vault.sessions.delete(chat.id)

    def _find(self, thread: str) -> "Chat | None":
        found = self._vault.sessions.list(key_prefix=str(_key(thread)), limit=1)
        return self._vault.sessions.chat(found[0].id) if found else None


def _forward(chat: "Chat") -> Iterator[ThreadRecord]:
    return _records(every(lambda cursor: chat.transcript(cursor=cursor, limit=_PAGE)))


def _last_first(chat: "Chat") -> Iterator["Message"]:
    page = chat.messages(limit=_PAGE)
    while True:
        yield from reversed(page)
        if page.next is None:
            return
        page = chat.messages(cursor=page.next, limit=_PAGE)


def _records(messages: "Iterator[Message]") -> Iterator[ThreadRecord]:
    for message in messages:
        kept = message.extra.get(_FIELD)
        if isinstance(kept, dict):
            yield ThreadRecord(unpack_json(kept["head"]), cast("Sequence[Json]", kept["blobs"]))


def _message(thread: str, head: dict[str, Json], blobs: Sequence[Blob]) -> NewMessage:
    written = pack_json({**head, "thread": thread, "types": [kind for kind, _ in blobs]})
    packed: list[Json] = [pack(data) for _, data in blobs]
    return NewMessage(role="info", content="", extra={_FIELD: {"head": written, "blobs": packed}})


def _key(thread: str) -> SessionKey:
    return SessionKey(agent=_AGENT, channel=_CHANNEL, topic=_topic(thread))


def _topic(thread: str) -> str:
    # A digest: a thread may have any name, and no key is the beginning of another.
    return blake2b(thread.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
