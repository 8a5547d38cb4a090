"""Loading what a context is made of: recalled memories and the last turns of a session."""

from recollect.domain.context import Candidate, PartKind
from recollect.domain.hit import Hit, SourceKind
from recollect.domain.memory import Memory, State
from recollect.domain.message import Message
from recollect.policy.clock import Reading
from recollect.policy.lifecycle import state_at
from recollect.recall.filters import Filters
from recollect.recall.nearest import Nearest
from recollect.recall.search import search
from recollect.storage.port import Tx
from recollect.storage.tables import memories, messages


def load_memories(tx: Tx, query: str, reading: Reading, most: int, nearest: Nearest | None) -> list[Candidate]:
    """What a query recalls, best first, then the most important of the rest."""
    if most == 0:
        return []
    hits = search(tx, query, reading, Filters(sources=(SourceKind.MEMORIES,)), most, nearest, None)
    found = [_from_hit(hit) for hit in hits]
    known = {candidate.id for candidate in found}
    rest = memories.page(
        tx,
        before=None,
        kind=None,
        keep=lambda one: one.id not in known and _holds(one, reading),
        limit=most,
    )
    return found + [_from_memory(one) for one in sorted(rest, key=lambda one: (-one.importance, one.id))]


def _holds(memory: Memory, reading: Reading) -> bool:
    """Whether a memory may be told, and is still true."""
    valid = memory.valid_to is None or memory.valid_to > reading.now
    return valid and not memory.superseded_by and state_at(memory, reading) is State.ACTIVE


def load_messages(tx: Tx, session_id: str, most: int) -> list[Candidate]:
    """The last messages of a session, in order."""
    return [_from_message(one) for one in messages.latest(tx, session_id, before=None, limit=most)] if most else []


def _from_hit(hit: Hit) -> Candidate:
    return Candidate(
        kind=PartKind.MEMORY,
        id=hit.source.memory_id or "",
        speaker=hit.author,
        text=hit.text,
        trust=hit.trust,
    )


def _from_memory(memory: Memory) -> Candidate:
    return Candidate(kind=PartKind.MEMORY, id=memory.id, speaker=memory.author, text=memory.content, trust=memory.trust)


def _from_message(message: Message) -> Candidate:
    return Candidate(
        kind=PartKind.MESSAGE,
        id=message.id,
        speaker=message.speaker or message.role,
        text=message.text,
        trust=message.trust,
    )
