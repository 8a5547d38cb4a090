"""Search by meaning for one vault: which embedder, how far its vectors have come, and what stands in the way."""

import threading
import time
from collections.abc import Mapping
from typing import Final

from recollect.domain.embedder import Purpose
from recollect.domain.errors import ModelError, SettingsError
from recollect.domain.ids import Clock
from recollect.models.port import Embedder
from recollect.models.registry import open_embedder
from recollect.recall import catching_up
from recollect.recall.matrix import Matrix
from recollect.recall.nearest import Nearest
from recollect.settings.model import EmbeddingSettings
from recollect.storage.port import Database, Tx
from recollect.storage.tables import generations
from recollect.storage.tables.generations import Generation, GenerationState

#: How long a recall waits for the vectors of what was just written.
PATIENCE_SECONDS: Final = 1.0
STEP: Final = 16


class Embedders:
    """The embedder of the settings, opened when it is first asked for and shared by all vaults."""

    def __init__(self, settings: EmbeddingSettings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._lock = threading.Lock()
        self._opened = False
        self._embedder: Embedder | None = None
        self._why: str | None = None

    def get(self) -> tuple[Embedder | None, str | None]:
        """The embedder, or None and the reason."""
        with self._lock:
            if not self._opened:
                self._open()
            return self._embedder, self._why

    def close(self) -> None:
        """Give back what the embedder holds."""
        with self._lock:
            if self._embedder:
                self._embedder.close()

    def _open(self) -> None:
        try:
            self._embedder = open_embedder(self._settings, self._environ)
            self._why = None if self._embedder else "no embedder is set up, so only words were compared"
        except (ModelError, SettingsError) as error:
            self._why = str(error)
        self._opened = True


class Meaning:
    """The vectors of one vault, as this process has them."""

    def __init__(self, embedders: Embedders, settings: EmbeddingSettings, clock: Clock) -> None:
        self._embedders = embedders
        self._settings = settings
        self._clock = clock
        self._matrix: Matrix | None = None
        self._lock = threading.Lock()

    def prepare(self, database: Database, query: str) -> tuple[Nearest | None, str | None]:
        """What a question needs to be answered by meaning; or None, and why not."""
        embedder, why = self._embedders.get()
        if embedder is None or not query.strip():
            return None, why
        try:
            late = self.catch_up(database, embedder)
            asked = embedder.embed([query], Purpose.QUERY)[0]
        except ModelError as error:
            return None, str(error)
        generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
        if generation is None or generation.identity != embedder.identity.text_key():
            return None, "the index is being made again for another model, so only words were compared"
        matrix = database.read(lambda tx: self._current(tx, generation, len(asked)))
        if late:
            why = f"about {late} pieces have no vector yet and were compared by words alone"
        return Nearest(matrix, asked), why

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

    def _current(self, tx: Tx, generation: Generation, dimensions: int) -> Matrix:
        with self._lock:
            if self._matrix is None or self._matrix.generation != generation.id:
                self._matrix = Matrix(generation.id, dimensions)
            matrix = self._matrix
        matrix.refresh(tx, generation)
        return matrix
