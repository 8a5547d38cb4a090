"""Stores the checkpoints and writes of LangGraph threads: each thread is one session, and each record one message."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from recollectum.adapters.packing import pack, pack_json, unpack, unpack_json
from recollectum.adapters.session_log import SessionLog, first_to_last, last_to_first
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_AGENT, _CHANNEL, _FIELD = "langgraph", "checkpoints", "langgraph"
#: So many records before a checkpoint are read too: LangGraph may hand over its writes a moment before it.
MARGIN = 200

Blob = tuple[str, bytes]
T = TypeVar("T")


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


class ThreadView:
    """The records of one thread as they are now."""

    def __init__(self, chats: "Sequence[Chat]") -> None:
        self.chats = chats

    def forward(self) -> Iterator[ThreadRecord]:
        """Return the records, first to last."""
        return (record for chat in self.chats for record in _records(first_to_last(chat)))

    def backward(self) -> Iterator[ThreadRecord]:
        """Return the records, last to first."""
        return (record for chat in reversed(self.chats) for record in _records(last_to_first(chat)))


class _Replaced:
    """A session that another one replaces; each reading continues after the last one."""

    def __init__(self, chat: "Chat") -> None:
        self.chat = chat
        #: As it was when the last reading began: what came after that may not have been read.
        self.count = 0
        self._position = 0

    def read(self) -> Iterator[ThreadRecord]:
        self.count = self.chat.info().message_count
        new = [one for one in first_to_last(self.chat) if one.position > self._position]
        self._position = new[-1].position if new else self._position
        return _records(iter(new))


class ThreadLog:
    """The records of every thread in one vault, in the order in which they came.

    A thread is one session. To take records out of it, the others are written to a new session, and the old one is
    destroyed. Until then both are read: a record that is there twice counts once, so a crash in between loses nothing.
    """

    def __init__(self, vault: "Vault") -> None:
        self.vault = vault
        self._sessions = SessionLog(vault, _AGENT, _CHANNEL)

    def add(self, thread: str, records: Sequence[tuple[dict[str, Json], Sequence[Blob]]]) -> None:
        """Append records to a thread in one transaction."""
        self._sessions.add(thread, [_message(thread, head, blobs) for head, blobs in records])

    def read(self, thread: str, reader: Callable[[ThreadView], T]) -> T:
        """Return what a reader makes of a thread; it reads again when a session was taken away meanwhile."""
        while True:
            view = ThreadView(self._sessions.every(thread))
            found = reader(view)
            if {chat.id for chat in view.chats} <= self._sessions.ids(thread):
                return found

    def threads(self) -> list[str]:
        """Return the ids of all threads, newest first."""
        sessions = self._sessions
        heads = (next(_records(first_to_last(sessions.chat(one))), None) for one in sessions.list())
        return list(dict.fromkeys(str(first.head["thread"]) for first in heads if first))

    def keep(self, thread: str, choose: Callable[[Sequence[ThreadRecord]], Sequence[ThreadRecord]]) -> None:
        """Destroy all records of a thread but those that are chosen; what is written meanwhile stays."""
        old = [_Replaced(chat) for chat in self._sessions.every(thread)]
        records = [record for one in old for record in one.read()]
        kept = choose(records)
        if len(kept) == len(records):
            return
        self._sessions.replace(thread)
        self._copy(thread, kept)
        for one in old:
            while not self._sessions.delete_chat(one.chat, one.count):
                # Another process has added to it since.
                self._copy(thread, list(one.read()))

    def _copy(self, thread: str, records: Sequence[ThreadRecord]) -> None:
        if records:
            said = [_message(thread, one.head, one.blobs) for one in records]
            # To the new session: another thread may just have added to the old one.
            self._sessions.add(thread, said, anew=True)

    def delete(self, thread: str) -> None:
        """Destroy a thread; nothing happens when there is none."""
        self._sessions.delete(thread)


def _records(messages: "Iterator[Message]") -> Iterator[ThreadRecord]:
    for message in messages:
        kept = message.extra.get(_FIELD)
        if isinstance(kept, dict):
            yield ThreadRecord(unpack_json(kept["head"]), cast("Sequence[Json]", kept["blobs"]))


def _message(thread: str, head: dict[str, Json], blobs: Sequence[Blob]) -> NewMessage:
    written = pack_json({**head, "thread": thread, "types": [kind for kind, _ in blobs]})
    packed: list[Json] = [pack(data) for _, data in blobs]
    return NewMessage(role="info", content="", extra={_FIELD: {"head": written, "blobs": packed}})
