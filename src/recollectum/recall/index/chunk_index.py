"""Indexes memories, messages and notes as chunks with search terms."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollectum.domain.hit import Chunk, SourceKind
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Message
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks as chunk_rows
from recollectum.text.chunking import indexed_chunks
from recollectum.text.terms.analyser import IndexTerms, index_terms

if TYPE_CHECKING:
    from recollectum.text.markdown import NoteChunk

HEADING_SEPARATOR = " > "


def index_memory(tx: Tx, number: int, memory: Memory) -> None:
    """Index an active memory by its content and the words of its key; a memory in another state is skipped."""
    if memory.state is State.ACTIVE:
        chunk_rows.add(tx, SourceKind.MEMORIES, number, memory_chunks(memory))


def reindex_memory(tx: Tx, number: int, memory: Memory) -> None:
    """Update the index to the current text of a memory."""
    chunk_rows.remove(tx, SourceKind.MEMORIES, number)
    index_memory(tx, number, memory)


def index_message(tx: Tx, number: int, message: Message) -> None:
    """Index a message by its words."""
    chunk_rows.add_turn(tx, number, message, message_chunks(message))


def index_memories(tx: Tx, memories: Iterable[tuple[int, str, str | None]]) -> None:
    """Index many active memories, each given by its row number, content and key."""
    to_terms = IndexTerms()
    rows = chunk_rows.ChunkColumns.empty()
    for number, content, key in memories:
        words = key_words(key)
        for chunk in indexed_chunks(content):
            rows.add(number, chunk, to_terms(chunk.text + words))
        if rows.is_full:
            chunk_rows.add_of_memories(tx, rows)
            rows = chunk_rows.ChunkColumns.empty()
    chunk_rows.add_of_memories(tx, rows)


def index_messages(tx: Tx, texts: Iterable[tuple[int, str]]) -> None:
    """Index many messages, each given by its row number and text."""
    pieces = ((number, chunk, index_terms(chunk.text)) for number, text in texts for chunk in indexed_chunks(text))
    chunk_rows.add_turns(tx, pieces)


def index_note(tx: Tx, number: int, path: str, text: str) -> None:
    """Index a note by its words, its headings and its file name."""
    pieces = ((chunk, to_headings(chunk), note_terms(chunk.text, chunk.headings, path)) for chunk in note_chunks(text))
    chunk_rows.add_note(tx, number, pieces)


def reindex_note(tx: Tx, number: int, path: str, text: str) -> None:
    """Update the index to the current text of a note."""
    chunk_rows.remove(tx, SourceKind.NOTES, number)
    index_note(tx, number, path, text)


def rename_note(tx: Tx, number: int, path: str, text: str) -> None:
    """Index a note under its new file name; its chunks and their vectors stay."""
    chunk_rows.set_terms(
        tx, SourceKind.NOTES, number, (note_terms(chunk.text, chunk.headings, path) for chunk in note_chunks(text))
    )


def note_chunks(text: str) -> "list[NoteChunk]":
    """Return the chunks of a note."""
    # Import here: most programs have no notes, and the patterns of this module take a while to compile.
    from recollectum.text.markdown import sections  # noqa: PLC0415

    return sections(text)


def to_headings(chunk: "NoteChunk") -> str:
    """Return the headings of a chunk as one line."""
    return HEADING_SEPARATOR.join(chunk.headings)


def note_terms(text: str, headings: Sequence[str], path: str) -> str:
    """Return the search terms of a chunk of a note."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    # The words of its own heading are already in the first chunk of a section, but not in the following ones.
    above = [title for title in headings if title not in text]
    return index_terms(" ".join((text, *above, name.replace("_", " "))))


def message_chunks(message: Message) -> Iterator[tuple[Chunk, str]]:
    """Return the chunks of a message, each with its search terms."""
    return ((chunk, index_terms(chunk.text)) for chunk in indexed_chunks(message.text))


def memory_chunks(memory: Memory) -> Iterator[tuple[Chunk, str]]:
    """Return the chunks of a memory, each with its search terms."""
    return _chunks_with_key(memory.content, memory.key)


def key_words(key: str | None) -> str:
    """Return the words of a memory's key as they are added to each of its chunks."""
    return f" {key.replace('_', ' ')}" if key else ""


def _chunks_with_key(content: str, key: str | None) -> Iterator[tuple[Chunk, str]]:
    words = key_words(key)
    for chunk in indexed_chunks(content):
        yield chunk, index_terms(chunk.text + words)
