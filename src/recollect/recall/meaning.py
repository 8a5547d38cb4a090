"""Search by meaning for one vault: which embedder, how far its vectors have come, and what stands in the way."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from recollect.domain.embedder import Purpose
from recollect.domain.errors import ModelError, SettingsError, StorageError
from recollect.domain.ids import Clock
from recollect.models.port import Embedder
from recollect.recall import catching_up
from recollect.recall.matrix import Matrix
from recollect.recall.nearest import Nearest
from recollect.settings.model import EmbeddingSettings
from recollect.storage.port import Database, Tx
from recollect.storage.tables import generations, meta
from recollect.storage.tables.generations import Generation, GenerationState

#: How long a recall waits for the vectors of what was just written.
PATIENCE_SECONDS: Final = 1.0
STEP: Final = 16


def open_embedder(settings: EmbeddingSettings, environ: Mapping[str, str]) -> Embedder | None:
    """The embedder of these settings, or None where search is to be by words alone."""
    # All providers and what they need of HTTP: a program that never asks does not pay for them.
    from recollect.models import registry  # noqa: PLC0415

    return registry.open_embedder(settings, environ)


class Embedders:
    """The embedder of the settings, opened when it is first asked for and shared by all vaults."""

    def __init__(self, settings: EmbeddingSettings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._lock = threading.Lock()
        self._opened = False
        self._embedder: Embedder | None = None
        self._local: Embedder | None = None
        self._why: str | None = None

    def get(self) -> tuple[Embedder | None, str | None]:
        """The embedder, or None and the reason."""
        with self._lock:
            if not self._opened:
                self._open()
            return self._embedder, self._why

    def of(self, identity: str) -> Embedder | None:
        """The embedder whose vectors a generation has, as far as it can still be had: for as long as it is current."""
        configured, _ = self.get()
        if configured and configured.identity.text_key() == identity:
            return configured
        with self._lock:
            if self._local is None:
                self._local = _local(self._settings, self._environ)
            return self._local if self._local and self._local.identity.text_key() == identity else None

    def close(self) -> None:
        """Give back what the embedders hold."""
        with self._lock:
            for embedder in (self._embedder, self._local):
                if embedder:
                    embedder.close()

    def _open(self) -> None:
        try:
            self._embedder = open_embedder(self._settings, self._environ)
            # Who chose to do without one need not be told at every question.
            without = self._embedder is None and self._settings.provider != "none"
            self._why = "no embedder is installed, so only words were compared" if without else None
        except (ModelError, SettingsError) as error:
            self._why = str(error)
        self._opened = True


def _local(settings: EmbeddingSettings, environ: Mapping[str, str]) -> Embedder | None:
    """The embedder of this machine, which may have made vectors before another one was chosen."""
    try:
        return open_embedder(replace(settings, provider="local", model=""), environ)
    except (ModelError, SettingsError):
        return None


class Meaning:
    """The vectors of one vault, as this process has them."""

    def __init__(self, embedders: Embedders, settings: EmbeddingSettings, clock: Clock) -> None:
        self._embedders = embedders
        self._settings = settings
        self._clock = clock
        self._matrix: Matrix | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None

    def prepare(self, database: Database, query: str) -> tuple[Nearest | None, str | None]:
        """What a question needs to be answered by meaning; or None, and why not."""
        embedder, why = self._embedders.get()
        if embedder is None or not query.strip():
            return None, why
        embedder = self._for_now(database, embedder)
        late, trouble = self._brought_up(database, embedder)
        generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
        answering = self._embedders.of(generation.identity) if generation else None
        if generation is None or answering is None:
            return None, trouble or "the index is being made again for another model, so only words were compared"
        try:
            asked = answering.embed([query], Purpose.QUERY)[0]
        except ModelError as error:
            return None, str(error)
        matrix = database.read(lambda tx: self._current(tx, generation, len(asked)))
        if trouble and not len(matrix):
            return None, trouble
        if late and not trouble:
            trouble = f"about {late} pieces have no vector yet and were compared by words alone"
        return Nearest(matrix, asked), trouble

    def _for_now(self, database: Database, configured: Embedder) -> Embedder:
        """The embedder to go by: the one before, after somebody went back to its vectors."""
        current, left = database.read(
            lambda tx: (generations.find(tx, GenerationState.CURRENT), meta.find(tx, catching_up.LEFT))
        )
        if current is None or left != configured.identity.text_key():
            return configured
        return self._embedders.of(current.identity) or configured

    def _brought_up(self, database: Database, embedder: Embedder) -> tuple[int, str | None]:
        """About how many pieces are left to embed, and what stood in the way; an answer does not fail for it."""
        try:
            late = self.catch_up(database, embedder)
        except (ModelError, StorageError) as error:
            return 0, str(error)
        if late:
            self._go_on(database, embedder)
        return late, None

    def catch_up(self, database: Database, embedder: Embedder, seconds: float = PATIENCE_SECONDS) -> int:
        """Embed what was written since the last time, but not for ever; about how much is left."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if not self.step(database, embedder):
                return 0
        standing = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
        return database.read(lambda tx: catching_up.lag(tx, standing)) if standing else 0

    def step(self, database: Database, embedder: Embedder, limit: int = STEP) -> int:
        """Embed the next few chunks; how many, or 0 when nothing is left."""
        return catching_up.step(
            database, embedder, limit=limit, cache_entries=self._settings.cache_entries, now=self._clock()
        )

    def embedder(self) -> tuple[Embedder | None, str | None]:
        """The embedder in force, or None and the reason."""
        return self._embedders.get()

    def close(self) -> None:
        """Stop what goes on behind the answers; it goes on from there the next time."""
        self._stopping.set()
        with self._lock:
            worker = self._worker
        if worker:
            worker.join()

    def _go_on(self, database: Database, embedder: Embedder) -> None:
        """Embed the rest while nobody waits for it."""
        with self._lock:
            if self._stopping.is_set() or (self._worker and self._worker.is_alive()):
                return
            self._worker = threading.Thread(
                target=self._finish, args=(database, embedder), name="recollect-index", daemon=True
            )
            self._worker.start()

    def _finish(self, database: Database, embedder: Embedder) -> None:
        # Whatever stops it is told to the next question, which meets the same obstacle.
        with suppress(ModelError, StorageError):
            while not self._stopping.is_set() and self.step(database, embedder):
                pass

    def _current(self, tx: Tx, generation: Generation, dimensions: int) -> Matrix:
        with self._lock:
            if self._matrix is None or self._matrix.generation != generation.id:
                self._matrix = Matrix(generation.id, dimensions)
            matrix = self._matrix
        matrix.refresh(tx, generation)
        return matrix
