"""Reports on the search index of a vault, updates it, rolls it back and verifies it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import ModelMissing, NotFound
from recollectum.domain.hit import IndexHealth
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.index import rechunking
from recollectum.recall.index.verification import check_index, rebuild_index
from recollectum.recall.vectors import backlog
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks, generations, vectors
from recollectum.storage.tables.index.generations import Generation, GenerationState
from recollectum.storage.tables.trail import meta
from recollectum.vault.gate import Gate, operation
from recollectum.vault.runtime import VaultRuntime

_STEP = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStatus:
    """One embedder's view of the vault."""

    id: int
    #: The embedder that made it, as its identity spells it.
    identity: str
    state: str
    vectors: int
    #: Pieces it has no vector for yet.
    behind: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """How much of a vault can be found, and how."""

    pieces: int
    #: Whether the pieces are another version's, and are cut again at the next question or update.
    recutting: bool
    generations: tuple[GenerationStatus, ...]
    #: None when there is an embedder; else why there is none.
    without_meaning: str | None
    #: What ended this process's last try to build a generation behind the answers, if anything did.
    trouble: str | None


class Index:
    """The derived rows of one vault."""

    def __init__(self, runtime: VaultRuntime) -> None:
        self._runtime = runtime

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._runtime.gate

    @operation(Action.INDEX_READ, Scope.USER)
    def status(self) -> IndexStatus:
        """How many pieces there are, and how many of them each generation knows."""
        return self._status()

    @operation(Action.INDEX_WRITE, Scope.USER)
    def update(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed everything that has no vector yet; how many pieces. Stopped anywhere, it goes on from there."""
        with self._runtime.vault.use() as opened:
            return self._embed(opened.vectors, progress)

    def _embed(self, meaning: VectorSearch, progress: Callable[[int], None] | None) -> int:
        database = self._runtime.database
        embedder, why = meaning.embedder()
        if embedder is None:
            raise ModelMissing(why or "embedding.provider is none; set it to local or another one first")
        while meaning.recut(database):
            # Pieces of another version: what is embedded must be cut as it will be searched.
            pass
        # Who asks for it means it, also after going back from this model.
        database.write(lambda tx: meta.save(tx, backlog.ROLLED_BACK_MODEL, ""))
        meaning.begin(database, embedder)
        done = 0
        while count := meaning.step(database, embedder, _STEP).count:
            done += count
            if progress:
                progress(count)
        return done

    @operation(Action.INDEX_WRITE, Scope.USER)
    def catch_up(self) -> int:
        """Embed what has no vector yet, as recall does behind its answers; how many pieces.

        Unlike `update` it decides nothing: a model that somebody went back from is left alone, and without an embedder
        there is nothing to do.
        """
        with self._runtime.vault.use() as opened:
            return opened.vectors.follow(self._runtime.database)

    @operation(Action.INDEX_WRITE, Scope.USER, reads=True)
    def rollback(self) -> IndexStatus:
        """Answer from the generation before this one again."""

        def change(tx: Tx, reading: ClockReading) -> None:
            previous = generations.find(tx, GenerationState.PREVIOUS)
            current = generations.find(tx, GenerationState.CURRENT)
            if previous is None or current is None:
                raise NotFound("there is no generation of the index to go back to")
            building = generations.find(tx, GenerationState.BUILDING)
            if building:
                generations.drop(tx, building.id)
            # Two cannot hold one state, so the one that comes back waits in the third.
            generations.move(tx, previous.id, GenerationState.BUILDING, reading.now)
            generations.move(tx, current.id, GenerationState.PREVIOUS, reading.now)
            generations.move(tx, previous.id, GenerationState.CURRENT, reading.now)
            # Or the next question would build it again.
            meta.save(tx, backlog.ROLLED_BACK_MODEL, current.identity)

        self._runtime.write(change)
        return self._status()

    @operation(Action.INDEX_WRITE, Scope.USER)
    def rebuild(self) -> int:
        """Make the index again from the rows; how many pieces it has."""
        return self._runtime.write(lambda tx, _: rebuild_index(tx))

    @operation(Action.INDEX_READ, Scope.USER)
    def verify(self) -> IndexHealth:
        """Whether the rows, their seals and the full-text index agree."""
        return self._runtime.read(lambda tx, _: check_index(tx))

    def _status(self) -> IndexStatus:
        with self._runtime.vault.use() as opened:
            (embedder, why), trouble = opened.vectors.embedder(), opened.vectors.trouble
        without = None if embedder else why or "embedding.provider is none"

        def load(tx: Tx, _: ClockReading) -> IndexStatus:
            found = tuple(_generation_status(tx, one) for one in generations.everything(tx))
            return IndexStatus(
                pieces=chunks.count(tx),
                recutting=rechunking.is_due(tx),
                generations=found,
                without_meaning=without,
                trouble=trouble,
            )

        return self._runtime.read(load)


def _generation_status(tx: Tx, one: Generation) -> GenerationStatus:
    return GenerationStatus(
        id=one.id,
        identity=one.identity,
        state=one.state,
        vectors=vectors.count(tx, one.id),
        behind=backlog.lag(tx, one),
        created_at=one.created_at,
    )
