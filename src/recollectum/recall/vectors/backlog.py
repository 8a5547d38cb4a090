"""Embeds the chunks that have no vector yet, in short steps, and runs such steps in a background thread."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import TypeAlias

from recollectum.domain.errors import ModelError, StorageError
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding.port import Embedder
from recollectum.recall.index.passages import (
    ECHO_CHARACTERS,
    ECHO_TURNS,
    Passage,
    count_told_words,
    echo_share,
    speaks_of_self,
    telling_terms,
    text_hash,
    to_passage,
)
from recollectum.recall.vectors.quantisation import quantise
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.content import messages
from recollectum.storage.tables.index import chunks, embedding_cache, generations, vectors
from recollectum.storage.tables.index.generations import Generation, GenerationState

#: Does a little work; returns False when nothing is left.
WorkerStep: TypeAlias = Callable[[], bool]


class BackgroundWorker:
    """Runs steps in a thread that lives only while there is work."""

    def __init__(self, name: str, when_idle: Callable[[], None] = lambda: None) -> None:
        self._name = name
        #: Called by the thread when it ends.
        self._when_idle = when_idle
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._resting = False
        self._thread: threading.Thread | None = None
        self._asked = 0
        self._served = 0
        #: The error that ended the last run early, as text.
        self.trouble: str | None = None

    def start(self, step: WorkerStep) -> int:
        """Run the steps from now until nothing is left, and return a number to wait for."""
        with self._changed:
            self._asked += 1
            self._resting = False
            # A thread that is not alive was left behind by a fork, or by an unexpected error.
            if not (self._thread and self._thread.is_alive()) and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, args=(step,), name=self._name, daemon=True)
                self._thread.start()
            return self._asked

    def wait(self, asked: int, seconds: float) -> bool:
        """Wait for the run that began after that call of `start`, and return whether it ended in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._served >= asked, seconds)

    @property
    def is_busy(self) -> bool:
        """Return whether a thread is running."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def stop_soon(self) -> None:
        """Stop after the current step, unless more work is requested first; return without waiting."""
        self._resting = True

    def pause(self, seconds: float) -> None:
        """Sleep for a while, for a step that finds another process at the same work."""
        self._stopping.wait(seconds)

    def close(self) -> None:
        """Stop after the current step; the remaining work is done the next time."""
        self._stopping.set()
        with self._changed:
            thread = self._thread
        if thread:
            thread.join()

    def _run(self, step: WorkerStep) -> None:
        while True:
            with self._changed:
                asked = self._asked
            trouble = self._steps(step)
            with self._changed:
                self.trouble = trouble
                self._served = asked
                self._changed.notify_all()
                ended = self._asked == asked or self._stopping.is_set()
                if ended:
                    self._thread = None
            if ended:
                self._when_idle()
                return

    def _steps(self, step: WorkerStep) -> str | None:
        # Store any error: the caller reports it, and the next question meets it again.
        try:
            while not self._stopping.is_set() and not self._resting and step():
                pass
        except (ModelError, StorageError) as error:
            return str(error)
        return None


#: The name in meta of the model that somebody switched back from.
ROLLED_BACK_MODEL = "index_left"


@dataclass(frozen=True, slots=True)
class BacklogStep:
    """The result of one step."""

    #: The number of chunks it processed; 0 when nothing is left.
    count: int
    #: Whether another process had processed them before the step ended.
    contended: bool = False


@dataclass(frozen=True, slots=True)
class TurnFeatures:
    """The ranking features of one turn."""

    chunk: int
    told: int
    own: bool
    echo: float


@dataclass(frozen=True, slots=True)
class EmbeddingBatch:
    """The input of one step: passages, the known vectors, and the features of each turn."""

    generation: Generation
    passages: tuple[Passage, ...]
    known: dict[bytes, bytes]
    judged: tuple[TurnFeatures, ...]


def model_key(identity: EmbedderIdentity) -> bytes:
    """Return the key of a model in the embedding cache."""
    return text_hash(identity.text_key())


def begin_generation(tx: Tx, identity: EmbedderIdentity, now: datetime) -> Generation:
    """Return the generation that a model embeds into: the current one if it is the model's, or a new one beside it."""
    wanted = identity.text_key()
    by_state = {one.state: one for one in generations.everything(tx)}
    standing = by_state.get(GenerationState.CURRENT)
    if standing is None:
        return generations.add(tx, wanted, GenerationState.CURRENT, now)
    if standing.identity == wanted:
        return standing
    building = by_state.get(GenerationState.BUILDING)
    if building and building.identity == wanted:
        return building
    if building:
        # The model was changed again before that generation was complete.
        generations.drop(tx, building.id)
    previous = by_state.get(GenerationState.PREVIOUS)
    if previous and previous.identity == wanted:
        # Back to the previous model: its vectors stay, and only what was written since is missing.
        generations.move(tx, previous.id, GenerationState.BUILDING, now)
        return replace(previous, state=GenerationState.BUILDING)
    return generations.add(tx, wanted, GenerationState.BUILDING, now)


@dataclass(frozen=True, slots=True)
class StepSize:
    """How much one step embeds at most: chunks, and characters of them, though always one chunk."""

    chunks: int
    characters: int | None = None


def embed_step(
    database: Database, embedder: Embedder, *, size: StepSize, cache_entries: int, now: datetime
) -> BacklogStep:
    """Embed the next chunks of this model's generation, if it has one. No transaction is open while the model runs."""
    while batch := database.read(lambda tx: _load(tx, embedder.identity, size)):
        if batch.passages:
            return _embed_batch(database, embedder, batch, cache_entries, now)
        if batch.generation.state is not GenerationState.BUILDING:
            break
        generation = batch.generation
        if database.write(lambda tx: _promote_generation(tx, generation, size.chunks, now)):  # noqa: B023 - it is run at once
            break
    return BacklogStep(0)


def lag(tx: Tx, generation: Generation) -> int:
    """Return how many chunk numbers a generation is behind: an upper bound on the chunks without a vector."""
    return max(0, chunks.last(tx) - generation.done)


def _embed_batch(
    database: Database, embedder: Embedder, batch: EmbeddingBatch, cache_entries: int, now: datetime
) -> BacklogStep:
    fresh = _embed(embedder, batch)
    model = model_key(embedder.identity)
    first = database.write(lambda tx: _store(tx, batch, fresh, model, cache_entries, now))
    return BacklogStep(len(batch.passages), contended=not first)


def _load(tx: Tx, identity: EmbedderIdentity, size: StepSize) -> EmbeddingBatch | None:
    wanted = identity.text_key()
    for state in (GenerationState.CURRENT, GenerationState.BUILDING):
        generation = generations.find(tx, state)
        if generation and generation.identity == wanted:
            return _fill(tx, generation, identity, size)
    return None


def _fill(tx: Tx, generation: Generation, identity: EmbedderIdentity, size: StepSize) -> EmbeddingBatch:
    passages = _first(tuple(map(to_passage, chunks.after(tx, generation.done, size.chunks))), size.characters)
    known = embedding_cache.find(tx, [text_hash(one.text) for one in passages], model_key(identity))
    return EmbeddingBatch(generation, passages, known, tuple(_turn_features(tx, passages)))


def _first(passages: tuple[Passage, ...], characters: int | None) -> tuple[Passage, ...]:
    """Return as many passages as have that many characters together, and at least one."""
    if characters is None:
        return passages
    sums = accumulate(len(one.text) for one in passages)
    return passages[: max(1, sum(1 for reached in sums if reached <= characters))]


def _turn_features(tx: Tx, passages: Sequence[Passage]) -> list[TurnFeatures]:
    """Return the features of each turn; the turns before the first of a session are loaded once."""
    recent: dict[str, deque[frozenset[str]]] = {}
    judged: list[TurnFeatures] = []
    for passage in passages:
        if passage.session_id is None or passage.position is None:
            continue
        before = recent.get(passage.session_id)
        if before is None:
            earlier = messages.latest(tx, passage.session_id, before=passage.position, limit=ECHO_TURNS)
            before = recent[passage.session_id] = deque(
                (telling_terms(one.text[:ECHO_CHARACTERS]) for one in earlier), ECHO_TURNS
            )
        terms = telling_terms(passage.said)
        judged.append(
            TurnFeatures(
                passage.chunk, count_told_words(passage.said), speaks_of_self(passage.said), echo_share(terms, before)
            )
        )
        before.append(terms)
    return judged


def _embed(embedder: Embedder, batch: EmbeddingBatch) -> dict[bytes, bytes]:
    """Return the vectors that are not cached, by the hash of their text."""
    missing = {text_hash(one.text): one.text for one in batch.passages if text_hash(one.text) not in batch.known}
    if not missing:
        return {}
    rows = embedder.embed(list(missing.values()), Purpose.PASSAGE)
    return dict(zip(missing, quantise(rows), strict=True))


def _store(
    tx: Tx, batch: EmbeddingBatch, fresh: dict[bytes, bytes], model: bytes, cache_entries: int, now: datetime
) -> bool:
    """Store the embedded vectors, and return whether no other process stored them first."""
    if all(one.id != batch.generation.id for one in generations.everything(tx)):
        # Another process deleted it, for another model.
        return True
    standing = {row[0] for row in chunks.after(tx, batch.generation.done, len(batch.passages) * 2)}
    found = {**batch.known, **fresh}
    # A chunk that was deleted while the model ran must not come back as a vector.
    entries = [(one.chunk, found[text_hash(one.text)]) for one in batch.passages if one.chunk in standing]
    vectors.add(tx, batch.generation.id, entries)
    judged = [one for one in batch.judged if one.chunk in standing]
    chunks.judge(tx, ((one.chunk, one.told, one.own, one.echo) for one in judged))
    kept = {text_hash(one.text) for one in batch.passages if one.chunk in standing}
    if cache_entries:
        embedding_cache.touch(tx, batch.known, model, now)
        embedding_cache.save(tx, {key: data for key, data in fresh.items() if key in kept}, model, now)
        embedding_cache.evict(tx, cache_entries)
    return generations.advance(tx, batch.generation.id, batch.passages[-1].chunk)


def _promote_generation(tx: Tx, generation: Generation, limit: int, now: datetime) -> bool:
    """Make a complete generation the current one: one pointer, in one transaction.

    Return False when there is more to embed first. Chunks that others write at this moment may be missing: they are
    embedded like any other write, and waiting for them could take as long as others write.
    """
    standing = generations.find(tx, GenerationState.BUILDING)
    if standing is None or standing.id != generation.id:
        return True
    if lag(tx, standing) > limit:
        return False
    previous = generations.find(tx, GenerationState.PREVIOUS)
    if previous:
        generations.drop(tx, previous.id)
    current = generations.find(tx, GenerationState.CURRENT)
    if current:
        generations.move(tx, current.id, GenerationState.PREVIOUS, now)
    generations.move(tx, standing.id, GenerationState.CURRENT, now)
    return True
