"""Searches one vault by vectors: keeps the vectors current, and gives the reason when it cannot answer."""

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

from recollectum.domain.errors import DiskFull, ModelError, ModelMissing, StorageError
from recollectum.domain.ids import Clock
from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding.port import Embedder
from recollectum.recall.index import rechunking, waiting
from recollectum.recall.vectors import backlog, ivf
from recollectum.recall.vectors.backlog import BackgroundWorker
from recollectum.recall.vectors.embedders import Embedders
from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.query import VectorQuery
from recollectum.settings.model import EmbeddingSettings
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.index import chunks, generations, search
from recollectum.storage.tables.index.generations import Generation, GenerationState
from recollectum.storage.tables.trail import meta

T = TypeVar("T")

#: How long a recall waits for the vectors of recent writes.
PATIENCE_SECONDS: Final = 0.1
STEP: Final = 16
#: What is embedded at once while a question waits. A process that ends waits for one such step: a local model takes
#: some 50 ms for it.
_SHORT_STEP: Final = backlog.StepSize(STEP, characters=1200)
#: Rows that are rechunked in one transaction.
_RECHUNK_ROWS: Final = 64
#: About so many pages of the text index are merged in one transaction; in the background only while it has more parts
#: than this, because each question that is asked after a write would merge what was written.
_MERGED_PAGES: Final = 200
FEW_PARTS: Final = 4
#: How often a question is tried again because the model was changed in between.
_MAX_ATTEMPTS: Final = 3
_SHORTEST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 32.0


@dataclass(frozen=True, slots=True)
class _IndexState:
    """The state of the index when a question comes."""

    current: Generation | None
    building: Generation | None
    #: The model that somebody switched back from.
    left: str | None
    behind: int


class VectorSearch:
    """The vectors of one vault in this process.

    A question waits a limited time for new vectors of the current generation. A background thread builds the generation
    of another model, and no question waits for it.
    """

    def __init__(
        self,
        embedders: Embedders,
        settings: EmbeddingSettings,
        clock: Clock,
        when_idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._embedders = embedders
        self._settings = settings
        self._clock = clock
        self._matrix: VectorMatrix | None = None
        self.indexed = waiting.IndexedStates()
        self._lock = threading.Lock()
        self._catching_up = BackgroundWorker("recollectum-index", when_idle)
        self._building = BackgroundWorker("recollectum-build", when_idle)
        self._grouping = BackgroundWorker("recollectum-group", when_idle)
        #: Whether this process has requested its model once; after that, a change by another process wins.
        self._begun = False
        self._pieces_known = False
        self._pause = _SHORTEST_PAUSE
        #: The memory of the vectors, in bytes.
        self.held_bytes = 0
        #: The last result of each read, with the state of the vault at that time.
        self._read: dict[str, tuple[Hashable, Any]] = {}

    def prepare(self, database: Database, query: str) -> tuple[VectorQuery | None, str | None]:
        """Return the vector query for a question; or None, and the reason."""
        embedder, why = self._embedders.get()
        if embedder is None and self._pieces_known:
            return None, why
        standing = self._go_on(database, embedder)
        if embedder is None or not query.strip():
            return None, why
        for _ in range(_MAX_ATTEMPTS):
            answering = self._embedders.of(standing.current.identity) if standing.current else embedder
            if answering is None:
                return None, self._why_not(database, embedder)
            answer = self._answer(database, answering, standing, query)
            if answer:
                return answer
            standing = database.read(_load_index_state)
        return None, "the index kept changing its model, so only words were compared"

    def _answer(
        self, database: Database, answering: Embedder, standing: _IndexState, query: str
    ) -> tuple[VectorQuery | None, str | None] | None:
        """Return the vector query against the generation of one model; None when another generation has replaced it."""
        awaited = self._catch_up(database) if standing.behind or standing.current is None else None
        try:
            # In parallel, recent writes are embedded.
            asked = answering.embed([query], Purpose.QUERY)[0]
        except ModelError as error:
            return None, str(error)
        in_time = awaited is None or self._catching_up.wait(awaited, PATIENCE_SECONDS)
        trouble = self._catching_up.trouble if awaited and in_time else None
        found = self._vectors(database, answering.identity.text_key(), len(asked), written=awaited is not None)
        if found is None:
            not_yet = None if standing.current else "no chunk has a vector yet, so only words were compared"
            return (None, trouble or not_yet) if trouble or not_yet else None
        matrix, behind = found
        if matrix.wants_lists and standing.current:
            self._group(database, standing.current, matrix)
        elif awaited is not None and standing.behind:
            # Not in the thread that this question waits for.
            self._grouping.start(lambda: _merge_some(database, FEW_PARTS))
        if trouble and not len(matrix):
            return None, trouble
        if behind and not in_time:
            trouble = f"about {behind} chunks are not yet in the semantic index; run: recollectum index update"
        model = answering.identity.text_key()
        if not matrix.stale:
            return VectorQuery(matrix, asked, model=model), trouble
        # Deleted chunks must not contribute to the feedback.
        fresh = database.read(
            lambda tx: VectorQuery(matrix, asked, lambda numbers: search.existing(tx, numbers), model=model),
            on_replica=True,
        )
        return fresh, trouble

    def _group(self, database: Database, generation: Generation, matrix: VectorMatrix) -> None:
        """Build the IVF cells of a large vault in the background."""
        size, dimensions = len(matrix), matrix.dimensions
        self._grouping.start(lambda: ivf.build_step(database, generation, size=size, dimensions=dimensions))

    def _why_not(self, database: Database, configured: Embedder) -> str:
        """Return why the current generation cannot answer."""
        # Read this first: a process that has begun has also stored it.
        begun = self._begun
        standing, wanted = database.read(_load_index_state), configured.identity.text_key()
        if standing.left == wanted:
            return (
                "the index was rolled back to a model that these settings do not name, so only words were "
                "compared; name it again, or make vectors for this one with: recollectum index update"
            )
        if begun and wanted not in {one.identity for one in (standing.building, standing.current) if one}:
            return (
                "another process made the index for another model, so only words were compared; "
                "give this one the same settings, or open the home again to make it for this one"
            )
        why = "the index is being rebuilt for another model, so only words were compared"
        if standing.current and (missing := self._embedders.why_not(standing.current.identity)):
            why = f"{why}; {missing}"
        return f"{why}; the last try ended with: {self._building.trouble}" if self._building.trouble else why

    def _catch_up(self, database: Database) -> int:
        return self._catching_up.start(lambda: self._freshen(database))

    def _freshen(self, database: Database) -> bool:
        """Embed some of the new chunks of the current generation."""
        embedder, _ = self._embedders.get()
        standing = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
        if standing is None and embedder:
            self.begin(database, embedder)
        elif standing:
            embedder = self._embedders.of(standing.identity)
        return embedder is not None and self._step(database, embedder, _SHORT_STEP).count > 0

    def _go_on(self, database: Database, configured: Embedder | None) -> _IndexState:
        """Return the state of the index; in the background, rebuild what another version or another model made."""
        due, standing, waits = database.read(
            lambda tx: (
                not self._pieces_known and rechunking.is_due(tx),
                self._once(tx, "standing", _load_index_state),
                # After the others: a state is that of a snapshot, and the first read takes it.
                self.indexed.lacks(tx),
            ),
            on_replica=True,
        )
        if waits:
            # Now, so that they are embedded like any other write; a vault that takes no writes is searched as it is.
            with suppress(StorageError):
                waiting.index_found(database)
            standing = database.read(_load_index_state)
        self._pieces_known = not due
        if configured and (standing.current is None or standing.current.identity == configured.identity.text_key()):
            self._begun = True
        if due or (configured and self._wants(configured, standing)):
            self._building.start(lambda: self._build(database, configured))
        return standing

    def _wants(self, configured: Embedder, standing: _IndexState) -> bool:
        """Return whether this process should build: it wants another model, and no process has overruled it since."""
        wanted = configured.identity.text_key()
        if standing.current is None or wanted in (standing.current.identity, standing.left):
            return False
        return not self._begun or (standing.building is not None and standing.building.identity == wanted)

    def _build(self, database: Database, configured: Embedder | None) -> bool:
        if self.recut(database):
            return True
        if configured is None or not self._wants(configured, database.read(_load_index_state)):
            return False
        if not self._begun:
            self.begin(database, configured)
        done = self.step(database, configured)
        if done.contended:
            # Another process builds the same: one is enough, and this one checks from time to time whether it is alive.
            self._building.pause(self._pause)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        else:
            self._pause = _SHORTEST_PAUSE
        return done.count > 0

    def follow(self, database: Database) -> int:
        """Do the background work now, and return the number of chunks.

        A model that somebody switched back from stays unused.
        """
        waiting.index_all(database)
        configured, why = self._embedders.get()
        if configured is None and why:
            raise ModelMissing(why)
        while self.recut(database):
            pass
        # Read with what is read anyway: on a server another transaction would be another round trip.
        done, (standing, parts) = 0, database.read(lambda tx: (_load_index_state(tx), tx.text.parts))
        if configured is None:
            self.merge(database, parts)
            return 0
        answering = self._embedders.of(standing.current.identity) if standing.current else configured
        if standing.current is None and database.read(chunks.last):
            self.begin(database, configured)
        for embedder in filter(None, (answering, configured if self._wants(configured, standing) else None)):
            if embedder is configured and standing.current and not self._begun:
                self.begin(database, embedder)
            while count := self.step(database, embedder).count:
                done += count
        self.merge(database, parts)
        return done

    def merge(self, database: Database, parts: int) -> None:
        """Merge the parts of the text index, if there are several: a word is sought in all of them."""
        # A full disk must not fail what was asked for: the index is complete without this.
        with suppress(DiskFull):
            while parts > 1 and _merge_some(database):
                pass

    def recut(self, database: Database) -> bool:
        """Rechunk a few rows that another version chunked; return False when none is left."""
        if not database.read(rechunking.is_due):
            return False
        return database.write(lambda tx: rechunking.step(tx, _RECHUNK_ROWS)) > 0

    def begin(self, database: Database, embedder: Embedder) -> None:
        """Start the generation of a model: the current one, or a new one beside it."""
        database.write(lambda tx: backlog.begin_generation(tx, embedder.identity, self._clock()))
        self._begun = True

    def step(self, database: Database, embedder: Embedder, limit: int = STEP) -> backlog.BacklogStep:
        """Embed the next few chunks, one caller at a time."""
        with self._lock:
            return self._step(database, embedder, backlog.StepSize(limit))

    def _step(self, database: Database, embedder: Embedder, size: backlog.StepSize) -> backlog.BacklogStep:
        return backlog.embed_step(
            database, embedder, size=size, cache_entries=self._settings.cache_entries, now=self._clock()
        )

    def embedder(self) -> tuple[Embedder | None, str | None]:
        """Return the configured embedder, or None and the reason."""
        return self._embedders.get()

    @property
    def trouble(self) -> str | None:
        """Return the error that ended the last attempt to build a generation here, or None."""
        return self._building.trouble

    @property
    def is_busy(self) -> bool:
        """Return whether a background thread is running."""
        return self._catching_up.is_busy or self._building.is_busy or self._grouping.is_busy

    def stop_soon(self) -> None:
        """Stop the background threads after the current step; the next question restarts them."""
        for worker in (self._catching_up, self._building, self._grouping):
            worker.stop_soon()

    def close(self) -> None:
        """Stop the background threads; the work continues from there the next time."""
        self._catching_up.close()
        self._building.close()
        self._grouping.close()

    def _vectors(
        self, database: Database, identity: str, dimensions: int, *, written: bool
    ) -> tuple[VectorMatrix, int] | None:
        """Return the vectors of a model; the cached ones if nothing was written since."""
        seen, _ = self._read.get("standing", (None, None))
        at, found = self._read.get(identity, (None, None))
        if found is not None and at == seen and not written:
            return found
        return database.read(
            lambda tx: self._once(tx, identity, lambda tx: self._current(tx, identity, dimensions)), on_replica=True
        )

    def _once(self, tx: Tx, what: str, load: Callable[[Tx], T]) -> T:
        """Return the result of `load`, cached until something is written: questions are more frequent than writes."""
        state = tx.state
        before, found = self._read.get(what, (None, None))
        if before != state:
            found = load(tx)
            self._read[what] = state, found
        return cast("T", found)

    def _current(self, tx: Tx, identity: str, dimensions: int) -> tuple[VectorMatrix, int] | None:
        """Return the matrix and its lag, if its vectors are of the model that embedded the question."""
        generation = generations.find(tx, GenerationState.CURRENT)
        if generation is None or generation.identity != identity:
            return None
        matrix = self._matrix
        if matrix is None or matrix.generation != generation.id:
            matrix = self._matrix = VectorMatrix(generation.id, dimensions)
        matrix.refresh(tx, generation)
        self.held_bytes = matrix.held_bytes
        return matrix, backlog.lag(tx, generation)


def _merge_some(database: Database, parts: int = 1) -> bool:
    """Merge some of the text index, if it has more than so many parts; return whether that did anything."""
    if database.read(lambda tx: tx.text.parts) <= parts:
        return False
    return database.write(lambda tx: tx.text.scrub(pages=_MERGED_PAGES))


def _load_index_state(tx: Tx) -> _IndexState:
    by_state = {one.state: one for one in generations.everything(tx)}
    current = by_state.get(GenerationState.CURRENT)
    return _IndexState(
        current=current,
        building=by_state.get(GenerationState.BUILDING),
        left=meta.find(tx, backlog.ROLLED_BACK_MODEL),
        behind=backlog.lag(tx, current) if current else 0,
    )
