"""Canonical rows into the index: a memory or a message becomes chunks with terms."""

from collections.abc import Iterator

from recollect.domain.chunk import Chunk
from recollect.domain.hit import SourceKind
from recollect.domain.memory import Memory, State
from recollect.domain.message import Message
from recollect.storage.port import Tx
from recollect.storage.tables import chunks as chunk_rows
from recollect.text.chunking import chunks
from recollect.text.terms import index_terms


def index_memory(tx: Tx, number: int, memory: Memory) -> None:
    """Make an active memory findable, by its content and by the words of its key; any other state is not."""
    if memory.state is State.ACTIVE:
        chunk_rows.add(tx, SourceKind.MEMORIES, number, _memory_pieces(memory))


def reindex_memory(tx: Tx, number: int, memory: Memory) -> None:
    """Bring the index up to what a memory says now."""
    chunk_rows.remove(tx, SourceKind.MEMORIES, number)
    index_memory(tx, number, memory)


def index_message(tx: Tx, number: int, message: Message) -> None:
    """Make a message findable by its words."""
    pieces = ((chunk, index_terms(chunk.text)) for chunk in chunks(message.text))
    chunk_rows.add(tx, SourceKind.SESSIONS, number, pieces)


def _memory_pieces(memory: Memory) -> Iterator[tuple[Chunk, str]]:
    key_words = f" {memory.key.replace('_', ' ')}" if memory.key else ""
    for chunk in chunks(memory.content):
        yield chunk, index_terms(chunk.text + key_words)
