"""Lets texts that are written together wait for the index: the next search of any process indexes them first.

A fact of the vault names the row numbers among which messages and memories may wait, and is written in the transaction
that adds them. Rows in between that are indexed already, or may not be found, are passed by.
"""

from collections.abc import Hashable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from recollectum.recall.index.chunk_index import index_memories, index_messages
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.index import unindexed
from recollectum.storage.tables.trail import meta

#: The name of the fact.
NAME: Final = "index_waiting"
#: A range is widened by so many numbers at once, so that few writes store it.
_WIDENED: Final = 1024
#: The widest range: a search waits for the index of so many texts of a kind at most. Those beyond it are indexed when
#: they are added.
MOST: Final = 16 * _WIDENED
#: Texts that are indexed in one transaction.
_ROWS: Final = 2048
#: States that are remembered: each connection of a process has its own.
_STATES: Final = 8

#: The kinds of texts that may wait.
WaitingKind: TypeAlias = Literal["messages", "memories"]


class WaitingRange(NamedTuple):
    """The first and the last row number of texts that may wait."""

    first: int
    last: int


#: The range in which no text waits.
_NONE: Final = WaitingRange(0, -1)


class WaitingTexts(NamedTuple):
    """Among which messages and memories some wait."""

    messages: WaitingRange = _NONE
    memories: WaitingRange = _NONE


def find(tx: Tx) -> WaitingTexts | None:
    """Return among which texts some wait; None when all are indexed."""
    kept = meta.find_kept(tx, NAME)
    if kept is None:
        return None
    numbers = [int(number) for number in kept.split()]
    return WaitingTexts(WaitingRange(*numbers[:2]), WaitingRange(*numbers[2:4]) if numbers[2:] else _NONE)


def defer(tx: Tx, kind: WaitingKind, numbers: Sequence[int]) -> bool:
    """Let new texts wait, given by their row numbers; return False when too many wait already."""
    standing, first, last = find(tx) or WaitingTexts(), min(numbers), max(numbers)
    low, high = getattr(standing, kind)
    if high < low:
        low, high = first, -1
    if last - min(low, first) >= MOST:
        return False
    if first < low or last > high:
        widened = WaitingRange(min(low, first), high if last <= high else last + _WIDENED - 1)
        _save(tx, standing._replace(**{kind: widened}))
    return True


def index_all(database: Database) -> None:
    """Index all texts that wait, if any do."""
    if database.read(find) is not None:
        index_found(database)


def index_found(database: Database) -> None:
    """Index all texts that were found to wait, in short transactions; of two processes at once, each once."""
    while database.write(_step):
        pass


class IndexedStates:
    """Remembers in which states of a vault no text waits, so that a search asks only after a write."""

    def __init__(self) -> None:
        self._states: tuple[Hashable, ...] = ()

    def lacks(self, tx: Tx) -> bool:
        """Return whether texts wait in this snapshot, which has read something already."""
        state = tx.state
        if state in self._states:
            return False
        if find(tx) is not None:
            return True
        self._states = (*self._states[1 - _STATES :], state)
        return False


def note_done(tx: Tx) -> None:
    """Record that no text waits."""
    meta.remove(tx, NAME)


def count(tx: Tx) -> int:
    """Return how many texts wait."""
    standing = find(tx)
    if standing is None:
        return 0
    return unindexed.count_messages(tx, *standing.messages) + unindexed.count_memories(tx, *standing.memories)


def _step(tx: Tx) -> bool:
    """Index the next texts that wait; return False when none is left."""
    standing = find(tx)
    if standing is None:
        return False
    messages = unindexed.messages(tx, *standing.messages, limit=_ROWS)
    index_messages(tx, messages)
    memories = unindexed.memories(tx, *standing.memories, limit=_ROWS - len(messages))
    index_memories(tx, memories)
    if len(messages) + len(memories) < _ROWS:
        note_done(tx)
        return False
    # Those of the memories that have not been looked for yet wait as before.
    left = standing._replace(messages=_after(standing.messages, [number for number, _ in messages]))
    _save(tx, left._replace(memories=_after(standing.memories, [number for number, *_ in memories])))
    return True


def _after(standing: WaitingRange, indexed: Sequence[int]) -> WaitingRange:
    return standing._replace(first=indexed[-1] + 1) if indexed else standing


def _save(tx: Tx, waiting: WaitingTexts) -> None:
    meta.save(tx, NAME, " ".join(map(str, (*waiting.messages, *waiting.memories))))
