"""Compares the index with the rows it was made from, and rebuilds it."""

from recollectum.domain.hit import IndexHealth
from recollectum.recall.index import rechunking, waiting
from recollectum.recall.index.chunk_index import index_memories, index_messages, index_note
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, messages, notes
from recollectum.storage.tables.index import chunks
from recollectum.storage.tables.trail import quarantines, seals


def check_index(tx: Tx) -> IndexHealth:
    """Compare the index with the rows it was made from, and the rows with their seals.

    Texts that wait for the index are not missing in it: the next search indexes them.
    """
    missing, stray = chunks.drift(tx, *(waiting.find(tx) or ()))
    return IndexHealth(
        missing=missing,
        stray=stray + abs(tx.text.count() - chunks.count(tx)),
        changed=seals.damaged(tx),
    )


def rebuild_index(tx: Tx) -> int:
    """Delete the index and build it again."""
    chunks.clear(tx)
    index_memories(tx, memories.findable(tx))
    aside = quarantines.numbers(tx)
    index_messages(tx, ((number, text) for number, text in messages.texts(tx) if number not in aside))
    for number, path, text in notes.everything(tx):
        index_note(tx, number, path, text)
    rechunking.note_done(tx)
    waiting.note_done(tx)
    return chunks.count(tx)
