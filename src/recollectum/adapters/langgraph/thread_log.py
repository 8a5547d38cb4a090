"""Stores the checkpoints and writes of LangGraph threads: each thread is one session, and each record one message."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from recollectum.adapters.packing import pack, pack_json, unpack, unpack_json
from recollectum.adapters.session_log import SessionLog, first_to_last, last_to_first
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.vault.vault import Vault

_AGENT, _CHANNEL, _FIELD = "langgraph", "checkpoints", "langgraph"
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
        self._sessions = SessionLog(vault, _AGENT, _CHANNEL)

    def add(self, thread: str, records: Sequence[tuple[dict[str, Json], Sequence[Blob]]]) -> None:
        """Append records to a thread in one transaction."""
        self._sessions.open(thread).add_many([_message(thread, head, blobs) for head, blobs in records])

    def forward(self, thread: str) -> Iterator[ThreadRecord]:
        """Return the records of a thread, first to last."""
        chat = self._sessions.find(thread)
        return iter(()) if chat is None else _records(first_to_last(chat))

    def backward(self, thread: str) -> Iterator[ThreadRecord]:
        """Return the records of a thread, last to first."""
        chat = self._sessions.find(thread)
        return iter(()) if chat is None else _records(last_to_first(chat))

    def threads(self) -> list[str]:
        """Return the ids of all threads, newest first."""
        sessions = self._sessions
        heads = (next(_records(first_to_last(sessions.chat(one))), None) for one in sessions.list())
        return [str(first.head["thread"]) for first in heads if first]

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
