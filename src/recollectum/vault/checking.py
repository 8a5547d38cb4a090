"""Checking that derived rows agree with the rows they come from, and making them again."""

from dataclasses import dataclass

from recollectum.recall import recutting
from recollectum.recall.indexing import index_memories, index_messages, index_note
from recollectum.storage.port import Tx
from recollectum.storage.tables import chunks, memories, messages, notes, quarantines, seals


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a check found."""

    #: Active memories, messages and notes that the index lacks.
    missing: int
    #: Pieces of the index whose memory, message or note is gone or no longer active.
    stray: int
    #: Rows that are not as they were written, in a vault that is not encrypted; the cipher sees to the others.
    changed: int = 0

    @property
    def sound(self) -> bool:
        """Whether everything agrees."""
        return self.missing == 0 and self.stray == 0 and self.changed == 0

    @property
    def words(self) -> str:
        """What was found, as one reads it."""
        index = f"{self.missing} missing from the index, {self.stray} stray in it" if self.missing or self.stray else ""
        rows = f"{self.changed} rows are not as they were written" if self.changed else ""
        return "; ".join(filter(None, (index, rows))) or "sound"


def check(tx: Tx) -> Health:
    """Compare the index with the rows it was made from, and the rows with their seals."""
    missing, stray = chunks.drift(tx)
    return Health(
        missing=missing,
        stray=stray + abs(tx.text.count() - chunks.count(tx)),
        # A row whose key has changed is both without its seal and not where its seal says.
        changed=max(len(seals.changed(tx)), seals.orphaned(tx)),
    )


def rebuild(tx: Tx) -> int:
    """Drop the index and make it again."""
    chunks.clear(tx)
    index_memories(tx, memories.findable(tx))
    aside = quarantines.numbers(tx)
    index_messages(tx, ((number, text) for number, text in messages.texts(tx) if number not in aside))
    for number, path, text in notes.everything(tx):
        index_note(tx, number, path, text)
    recutting.note_done(tx)
    return chunks.count(tx)
