"""Makes the text that is embedded for a chunk, and computes query-independent features of a turn."""

import re
from collections.abc import Sequence, Set
from hashlib import blake2b

from recollectum.domain.hit import Chunk
from recollectum.domain.message import Message
from recollectum.domain.records import dataclass
from recollectum.recall.index.chunk_index import note_chunks, to_headings
from recollectum.text.chunking import chunks, indexed_chunks
from recollectum.text.terms.analyser import index_terms
from recollectum.text.terms.stopwords import STOP_WORDS

#: The number of earlier turns that are compared to find what a turn repeats.
ECHO_TURNS = 10
#: How much of each of those turns counts: a longer one would take as long to read as all others together.
ECHO_CHARACTERS = 20_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_FIRST_PERSON = frozenset({"i", "my", "me", "mine", "myself", "we", "our", "us", "i'm", "i've", "i'd", "i'll"})
_HASH_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The text of one chunk as it is embedded."""

    chunk: int
    text: str
    #: The turn that the chunk belongs to, or None for a memory or a note.
    session_id: str | None
    position: int | None
    #: The text without the speaker.
    said: str


def to_passage(row: Sequence[object]) -> Passage:
    """Return the text of a chunk to embed: a turn has its speaker before it, since that is half of its meaning.

    A chunk of a note has its headings before it, for the same reason.
    """
    number, content, text, speaker, session_id, position, note, headings = row
    said = str(next((one for one in (text, note, content) if one is not None), ""))
    if note is not None:
        return Passage(
            chunk=_number(number),
            text=_with_headings(str(headings or ""), said),
            session_id=None,
            position=None,
            said=said,
        )
    return Passage(
        chunk=_number(number),
        text=said if text is None else f"{speaker}: {said}",
        session_id=None if session_id is None else str(session_id),
        position=None if position is None else _number(position),
        said=said,
    )


def _with_headings(headings: str, said: str) -> str:
    return f"{headings}\n{said}" if headings else said


def text_hash(text: str) -> bytes:
    """Return the hash under which the vector of a text is cached."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def _ever_chunked(text: str) -> list[Chunk]:
    """Return the chunks of a text as they are cut now, and as earlier versions cut a text that is longer."""
    now, before = indexed_chunks(text), chunks(text)
    return before if now == before else [*now, *before]


def memory_hashes(content: str) -> list[bytes]:
    """Return the hashes under which the vectors of a memory may be cached."""
    return [text_hash(chunk.text) for chunk in _ever_chunked(content)]


def note_hashes(text: str) -> set[bytes]:
    """Return the hashes under which the vectors of a note's chunks may be cached."""
    return {text_hash(_with_headings(to_headings(chunk), chunk.text)) for chunk in note_chunks(text)}


def message_hashes(message: Message) -> list[bytes]:
    """Return the hashes under which the vectors of a message may be cached."""
    speaker = message.speaker or message.role
    return [text_hash(f"{speaker}: {chunk.text}") for chunk in _ever_chunked(message.text)]


def count_told_words(said: str) -> int:
    """Count the words outside questions: an answer tells, a question asks."""
    sentences = (sentence for sentence in _SENTENCE.split(said) if not sentence.rstrip().endswith("?"))
    return sum(len(sentence.split()) for sentence in sentences)


def speaks_of_self(said: str) -> bool:
    """Return whether a turn is about its speaker."""
    return not _FIRST_PERSON.isdisjoint(said.casefold().replace("’", "'").split())


def telling_terms(said: str) -> frozenset[str]:
    """Return the terms of a turn that carry meaning."""
    return frozenset(index_terms(said).split()) - STOP_WORDS


def echo_share(terms: Set[str], before: Sequence[Set[str]]) -> float:
    """Return the share of a turn's terms that occur in the turns before it."""
    if not terms:
        return 0.0
    seen = {term for turn in before for term in turn}
    return len(terms & seen) / len(terms)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
