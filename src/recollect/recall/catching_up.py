"""Bringing vectors up to the rows: what was written since the last time is embedded, in order, in short steps."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.embedder import EmbedderIdentity, Purpose
from recollect.models.port import Embedder
from recollect.recall.matrix import to_bytes
from recollect.recall.passages import (
    ECHO_TURNS,
    Passage,
    echo,
    speaks_of_self,
    telling_terms,
    text_hash,
    to_passage,
    told,
)
from recollect.storage.port import Database, Tx
from recollect.storage.tables import chunks, embedding_cache, generations, messages, meta, vectors
from recollect.storage.tables.generations import Generation, GenerationState

#: The name under which a vault notes the model that somebody went back from.
LEFT = "index_left"


@dataclass(frozen=True, slots=True)
class Judged:
    """What one turn is worth as an answer."""

    chunk: int
    told: int
    own: bool
    echo: float


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step works on: passages, the vectors known already, and what each turn is worth."""

    generation: Generation
    passages: tuple[Passage, ...]
    known: dict[bytes, bytes]
    judged: tuple[Judged, ...]


def model_key(identity: EmbedderIdentity) -> bytes:
    """The name of a model in the cache."""
    return text_hash(identity.text_key())


def current(tx: Tx, identity: EmbedderIdentity, now: datetime) -> Generation:
    """The generation to embed into: the current one of this model, or a new one beside it."""
    wanted = identity.text_key()
    standing = generations.find(tx, GenerationState.CURRENT)
    if standing is None:
        return generations.add(tx, wanted, GenerationState.CURRENT, now)
    if standing.identity == wanted:
        return standing
    building = generations.find(tx, GenerationState.BUILDING)
    if building and building.identity != wanted:
        # The model was changed again before that one was ready.
        generations.drop(tx, building.id)
        building = None
    return building or generations.add(tx, wanted, GenerationState.BUILDING, now)


def step(database: Database, embedder: Embedder, *, limit: int, cache_entries: int, now: datetime) -> int:
    """Embed the next chunks; how many, or 0 when there is nothing left to do. No transaction waits for the model."""
    if database.read(lambda tx: meta.find(tx, LEFT)) == embedder.identity.text_key():
        # Somebody went back from this model; only they may ask for it again.
        return 0
    batch = database.read(lambda tx: _load(tx, embedder.identity, limit))
    if batch is None:
        begun = database.write(lambda tx: current(tx, embedder.identity, now))
        batch = database.read(lambda tx: _fill(tx, begun, embedder.identity, limit))
    if not batch.passages:
        if batch.generation.state is GenerationState.BUILDING:
            database.write(lambda tx: _swap(tx, batch.generation, now))
        return 0
    fresh = _embed(embedder, batch)
    database.write(lambda tx: _store(tx, batch, fresh, model_key(embedder.identity), cache_entries, now))
    return len(batch.passages)


def lag(tx: Tx, generation: Generation) -> int:
    """How many numbers a generation is behind; an upper bound on the chunks without a vector."""
    return max(0, chunks.last(tx) - generation.done)


def _load(tx: Tx, identity: EmbedderIdentity, limit: int) -> Batch | None:
    wanted = identity.text_key()
    for state in (GenerationState.CURRENT, GenerationState.BUILDING):
        generation = generations.find(tx, state)
        if generation and generation.identity == wanted:
            return _fill(tx, generation, identity, limit)
    return None


def _fill(tx: Tx, generation: Generation, identity: EmbedderIdentity, limit: int) -> Batch:
    passages = tuple(map(to_passage, chunks.after(tx, generation.done, limit)))
    known = embedding_cache.find(tx, [text_hash(one.text) for one in passages], model_key(identity))
    return Batch(generation, passages, known, tuple(_judge(tx, passages)))


def _judge(tx: Tx, passages: Sequence[Passage]) -> list[Judged]:
    """What each turn is worth; the turns before the first of a session are fetched once."""
    recent: dict[str, deque[frozenset[str]]] = {}
    judged: list[Judged] = []
    for passage in passages:
        if passage.session_id is None or passage.position is None:
            continue
        before = recent.get(passage.session_id)
        if before is None:
            earlier = messages.latest(tx, passage.session_id, before=passage.position, limit=ECHO_TURNS)
            before = recent[passage.session_id] = deque((telling_terms(one.text) for one in earlier), ECHO_TURNS)
        terms = telling_terms(passage.said)
        judged.append(Judged(passage.chunk, told(passage.said), speaks_of_self(passage.said), echo(terms, before)))
        before.append(terms)
    return judged


def _embed(embedder: Embedder, batch: Batch) -> dict[bytes, bytes]:
    """The vectors that are not known yet, by the hash of their text."""
    missing = {text_hash(one.text): one.text for one in batch.passages if text_hash(one.text) not in batch.known}
    if not missing:
        return {}
    rows = embedder.embed(list(missing.values()), Purpose.PASSAGE)
    return dict(zip(missing, to_bytes(rows), strict=True))


def _store(tx: Tx, batch: Batch, fresh: dict[bytes, bytes], model: bytes, cache_entries: int, now: datetime) -> None:
    if all(one.id != batch.generation.id for one in generations.everything(tx)):
        # Another process dropped it, for another model.
        return
    standing = {row[0] for row in chunks.after(tx, batch.generation.done, len(batch.passages) * 2)}
    found = {**batch.known, **fresh}
    # A chunk that was taken out while the model worked must not come back as a vector.
    entries = [(one.chunk, found[text_hash(one.text)]) for one in batch.passages if one.chunk in standing]
    vectors.add(tx, batch.generation.id, entries)
    for one in batch.judged:
        if one.chunk in standing:
            chunks.judge(tx, one.chunk, told=one.told, own=one.own, echo=one.echo)
    kept = {text_hash(one.text) for one in batch.passages if one.chunk in standing}
    if cache_entries:
        embedding_cache.touch(tx, batch.known, model, now)
        embedding_cache.save(tx, {key: data for key, data in fresh.items() if key in kept}, model, now)
        embedding_cache.evict(tx, cache_entries)
    generations.advance(tx, batch.generation.id, batch.passages[-1].chunk)


def _swap(tx: Tx, generation: Generation, now: datetime) -> None:
    """Put a generation that has everything in the place of the current one: one pointer, one transaction."""
    standing = generations.find(tx, generation.state)
    if generation.state is not GenerationState.BUILDING or standing is None or standing.id != generation.id:
        return
    if lag(tx, standing):
        return
    previous = generations.find(tx, GenerationState.PREVIOUS)
    if previous:
        generations.drop(tx, previous.id)
    current_one = generations.find(tx, GenerationState.CURRENT)
    if current_one:
        generations.move(tx, current_one.id, GenerationState.PREVIOUS, now)
    generations.move(tx, generation.id, GenerationState.CURRENT, now)
