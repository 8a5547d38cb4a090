"""Opens the embedder of a home on first use, and those of earlier generations."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from recollectum.domain.errors import ModelError, SettingsError
from recollectum.domain.models.embedder import EmbedderIdentity
from recollectum.home.paths import Home
from recollectum.models.embedding.port import Embedder
from recollectum.models.search import SearchModels
from recollectum.settings.model import EmbeddingSettings

#: Opens the embedder of some settings; None if they name none.
OpenEmbedder = Callable[[EmbeddingSettings, Mapping[str, str]], Embedder | None]


def open_embedder(settings: EmbeddingSettings, environ: Mapping[str, str]) -> Embedder | None:
    """Return the embedder of these settings, or None if search is by words only."""
    # Import here: this loads all providers and the HTTP client, which a program that never searches need not pay for.
    from recollectum.models.registry import embedding  # noqa: PLC0415

    return embedding.open_embedder(settings, environ)


class Embedders:
    """The embedder of the settings, opened on first use and shared by all vaults."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        environ: Mapping[str, str],
        shared_in: Home | None = None,
        given: SearchModels = SearchModels(),  # noqa: B008 - it is frozen
        opens: OpenEmbedder = open_embedder,
    ) -> None:
        #: Used in place of those that the settings name; the caller that passed them closes them.
        self._given = given.embedder
        self._earlier = {one.identity.text_key(): one for one in given.earlier}
        self._opens = opens
        self._settings = settings
        self._environ = environ
        #: The home whose daemon embeds for other processes; None if each process loads its own model.
        self._shared_in = shared_in
        self._lock = threading.Lock()
        self._opened = False
        self._embedder: Embedder | None = None
        #: The embedders of generations from before the settings changed; None for one that cannot be opened.
        self._others: dict[str, Embedder | None] = {}
        #: Why some of them cannot be opened.
        self._whys: dict[str, str] = {}
        self._why: str | None = None

    def get(self) -> tuple[Embedder | None, str | None]:
        """Return the embedder, or None and the reason."""
        if self._given:
            return self._given, None
        with self._lock:
            if not self._opened:
                self._open()
            return self._embedder, self._why

    def of(self, identity: str) -> Embedder | None:
        """Return the embedder that made the vectors of a generation, if it can still be opened.

        It is the current one, one that was given as an earlier one, a local one, or another model at the address of
        the settings. Texts are sent nowhere else, whatever was allowed before.
        """
        configured, _ = self.get()
        if configured and configured.identity.text_key() == identity:
            return configured
        if identity in self._earlier:
            return self._earlier[identity]
        with self._lock:
            if identity not in self._others:
                self._others[identity] = self._before(identity)
            return self._others[identity]

    def why_not(self, identity: str) -> str | None:
        """Return why the embedder of a generation cannot be opened, with the cure, if `of` found out."""
        with self._lock:
            return self._whys.get(identity)

    def _before(self, identity: str) -> Embedder | None:
        made_by = EmbedderIdentity.from_text_key(identity)
        if made_by is None or made_by.provider not in ("local", self._settings.provider):
            return None
        before = replace(self._settings, provider=made_by.provider, model=made_by.model, dimensions=made_by.dimensions)
        try:
            found = self._opens(before, self._environ)
        except (ModelError, SettingsError) as error:
            self._whys[identity] = f"{made_by.model}, which made it, is missing: {error}"
            return None
        if found is None or found.identity.text_key() == identity:
            return found
        found.close()
        return None

    def close(self) -> None:
        """Close the embedders."""
        with self._lock:
            for embedder in (self._embedder, *self._others.values()):
                if embedder:
                    embedder.close()

    def _shared(self, embedder: Embedder | None) -> Embedder | None:
        if embedder is None or self._shared_in is None:
            return embedder
        # Import with the providers, which are loaded by now.
        from recollectum.models.embedding.shared import share  # noqa: PLC0415

        return share(embedder, self._shared_in)

    def _open(self) -> None:
        try:
            self._embedder = self._shared(self._opens(self._settings, self._environ))
            # Give no reason: a person who turned it off need not be told at every question.
            without = self._embedder is None and self._settings.provider != "none"
            self._why = "no embedder is installed, so only words were compared" if without else None
        except (ModelError, SettingsError) as error:
            self._why = str(error)
        self._opened = True
