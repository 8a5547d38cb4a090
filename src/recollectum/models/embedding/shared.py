"""SharedEmbedder: asks the daemon of the same home for vectors, and computes them itself if it cannot."""

import base64
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.home.daemon import Daemon, find_daemon
from recollectum.home.paths import Home
from recollectum.models.embedding.cache import CachedEmbedder
from recollectum.models.embedding.port import Embedder

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors

#: The path at which the daemon answers.
PATH = "/local/embed"
_TIMEOUT_SECONDS = 10.0
_TEXTS = 64
#: Characters for each token that the local model reads; the rest need not be sent.
_CHARACTERS = 32
_OK = 200


class SharedEmbedder:
    """Asks the daemon, and computes by itself after the first failure; the vectors are the same, bit for bit."""

    def __init__(self, inner: Embedder, home: Home) -> None:
        self.inner = inner
        self._home = home
        #: Whether this process has loaded its own model, which is faster than any daemon.
        self._own = False

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the inner embedder."""
        return self.inner.identity

    @property
    def max_tokens(self) -> int:
        """Return the limit of the inner embedder."""
        return self.inner.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """Return one row for each text, in order."""
        found = None if self._own or not texts else self._ask(texts, purpose)
        if found is not None:
            return found
        self._own = True
        return self.inner.embed(texts, purpose)

    def close(self) -> None:
        """Close the inner embedder."""
        self._own = False
        self.inner.close()

    def _ask(self, texts: Sequence[str], purpose: Purpose) -> "Vectors | None":
        """Return the vectors from the daemon; None when there is no daemon, or it cannot compute them."""
        daemon = find_daemon(self._home)
        if daemon is None or daemon.pid == os.getpid():
            return None
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        parts: list[Vectors] = []
        for start in range(0, len(texts), _TEXTS):
            lot = [text[: self.max_tokens * _CHARACTERS] for text in texts[start : start + _TEXTS]]
            part = self._vectors(_post(daemon, {"texts": lot, "purpose": purpose.value}), len(lot))
            if part is None:
                return None
            parts.append(part)
        return np.concatenate(parts)

    def _vectors(self, answer: Mapping[str, object] | None, count: int) -> "Vectors | None":
        """Return the vectors of an answer, if they are of this model and there is one for each text."""
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        if answer is None or answer.get("identity") != self.identity.text_key():
            return None
        try:
            data = base64.b64decode(str(answer.get("vectors")), validate=True)
            rows = np.frombuffer(data, "<f4").reshape(count, self.identity.dimensions)
        except ValueError:
            return None
        return rows.astype(np.float32)


def share(embedder: Embedder, home: Home) -> Embedder:
    """Return an embedder that asks the daemon of the home first, if the model is local."""
    if embedder.identity.provider != "local":
        return embedder
    if isinstance(embedder, CachedEmbedder):
        # Below the cache: cached vectors are rounded, and those of the daemon are not.
        embedder.inner = SharedEmbedder(embedder.inner, home)
        return embedder
    return SharedEmbedder(embedder, home)


def pack(rows: "Vectors") -> str:
    """Return vectors in the daemon's wire format."""
    return base64.b64encode(rows.astype("<f4").tobytes()).decode("ascii")


def _post(daemon: Daemon, body: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the answer of the daemon; None after any failure, because there is another way."""
    # Import here, only if there is a daemon: HTTP takes a while to load.
    from http.client import HTTPConnection, HTTPException  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415

    place = urlsplit(daemon.url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT_SECONDS)
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", PATH, json.dumps(body), headers)
        response = connection.getresponse()
        found: object = json.loads(response.read()) if response.status == _OK else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else None
