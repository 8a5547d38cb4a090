"""Reports on the search index of a vault, updates it, rolls it back and verifies it."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import ModelMissing, NotFound, StorageError
from recollectum.domain.hit import IndexHealth
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.index import rechunking, waiting
from recollectum.recall.index.verification import check_index, rebuild_index
from recollectum.recall.vectors import backlog
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks, generations, vectors
from recollectum.storage.tables.index.generations import Generation, GenerationState
from recollectum.storage.tables.trail import meta
from recollectum.vault.gate import operation
from recollectum.vault.service import VaultService

_STEP = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStatus:
    """The index generation of one embedder."""

    id: int
    #: The identity of the embedder that made it.
    identity: str
    state: str
    vectors: int
    #: Chunks without a vector in this generation.
    behind: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """How much of a vault is indexed, and how."""

    pieces: int
    #: Texts that wait for the index; the next search indexes them first.
    waiting: int
    #: Whether the chunks are from another version, and will be cut again at the next query or update.
    recutting: bool
    generations: tuple[GenerationStatus, ...]
    #: Why there is no embedder; None when there is one.
    without_meaning: str | None
    #: The error of this process's last attempt to build a generation in the background, if it failed.
    trouble: str | None


class Index(VaultService):
    """The search index of one vault."""

    @operation(Action.INDEX_READ, Scope.USER)
    def status(self) -> IndexStatus:
        """Return how many chunks there are, and how many of them each generation has embedded."""
        return self._status()

    @operation(Action.INDEX_WRITE, Scope.USER)
    def update(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed every chunk without a vector; return how many. After an interruption it continues where it stopped.

        Then merge the parts of the text index, so that words are found sooner.
        """
        with self._runtime.vault.use() as opened:
            return self._embed(opened.vectors, progress)

    def _embed(self, meaning: VectorSearch, progress: Callable[[int], None] | None) -> int:
        database = self._runtime.database
        waiting.index_all(database)
        embedder, why = meaning.embedder()
        if embedder is None:
            raise ModelMissing(why or "embedding.provider is none; set it to local or another one first")
        while meaning.recut(database):
            # Cut chunks of another version again first: the embedded chunks must be the ones that are searched.
            pass
        # An explicit update uses this model, even after a rollback from it.
        parts = database.write(_forget_rollback)
        meaning.begin(database, embedder)
        done = 0
        while count := meaning.step(database, embedder, _STEP).count:
            done += count
            if progress:
                progress(count)
        meaning.merge(database, parts)
        return done

    @operation(Action.INDEX_WRITE, Scope.USER)
    def catch_up(self) -> int:
        """Embed what has no vector yet, as recall does in the background; return how many chunks.

        Unlike `update` it changes no decision: it skips a model that was rolled back, and does nothing without an
        embedder.
        """
        with self._runtime.vault.use() as opened:
            return opened.vectors.follow(self._runtime.database)

    @operation(Action.INDEX_WRITE, Scope.USER, reads=True)
    def rollback(self) -> IndexStatus:
        """Activate the previous generation again."""

        def change(tx: Tx, reading: ClockReading) -> None:
            previous = generations.find(tx, GenerationState.PREVIOUS)
            current = generations.find(tx, GenerationState.CURRENT)
            if previous is None or current is None:
                raise NotFound("there is no previous generation of the index to roll back to")
            building = generations.find(tx, GenerationState.BUILDING)
            if building:
                generations.drop(tx, building.id)
            # Two generations cannot have the same state, so the returning one takes the third state for a moment.
            generations.move(tx, previous.id, GenerationState.BUILDING, reading.now)
            generations.move(tx, current.id, GenerationState.PREVIOUS, reading.now)
            generations.move(tx, previous.id, GenerationState.CURRENT, reading.now)
            # Otherwise the next query would build it again.
            meta.save(tx, backlog.ROLLED_BACK_MODEL, current.identity)

        self._runtime.write(change)
        return self._status()

    @operation(Action.INDEX_WRITE, Scope.USER)
    def rebuild(self) -> int:
        """Rebuild the index from the rows; return how many chunks it has."""
        return self._runtime.write(lambda tx, _: rebuild_index(tx))

    @operation(Action.INDEX_READ, Scope.USER)
    def verify(self) -> IndexHealth:
        """Check that the rows, their seals and the full-text index agree."""
        # A vault that takes no writes is checked as it is.
        with suppress(StorageError):
            waiting.index_all(self._runtime.database)
        return self._runtime.read(lambda tx, _: check_index(tx))

    def _status(self) -> IndexStatus:
        with self._runtime.vault.use() as opened:
            (embedder, why), trouble = opened.vectors.embedder(), opened.vectors.trouble
        without = None if embedder else why or "embedding.provider is none"

        def load(tx: Tx, _: ClockReading) -> IndexStatus:
            found = tuple(_generation_status(tx, one) for one in generations.everything(tx))
            return IndexStatus(
                pieces=chunks.count(tx),
                waiting=waiting.count(tx),
                recutting=rechunking.is_due(tx),
                generations=found,
                without_meaning=without,
                trouble=trouble,
            )

        return self._runtime.read(load)


def _forget_rollback(tx: Tx) -> int:
    """Forget which model was rolled back, and return how many parts the text index has."""
    meta.save(tx, backlog.ROLLED_BACK_MODEL, "")
    return tx.text.parts


def _generation_status(tx: Tx, one: Generation) -> GenerationStatus:
    return GenerationStatus(
        id=one.id,
        identity=one.identity,
        state=one.state,
        vectors=vectors.count(tx, one.id),
        behind=backlog.lag(tx, one),
        created_at=one.created_at,
    )
