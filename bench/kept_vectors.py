"""Keeps the vectors of the local model in a file, so that a large set is embedded once."""

import hashlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput, ModelMissing
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Embedder, Vectors
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings

if TYPE_CHECKING:
    import numpy as np

#: How the digests of about one text in a hundred begin.
_CHECKED = ("00", "7f", "a1")
_SAME = 0.999


class KeptVectors:
    """The local embedder, with its vectors kept in a file by the digest of their text; one in a hundred is checked."""

    def __init__(self, made: Embedder, path: Path) -> None:
        if not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written; give a file in a folder that exists")
        self._made = made
        self._path = path
        self._rows = sqlite3.connect(path, check_same_thread=False)
        self._rows.execute("CREATE TABLE IF NOT EXISTS v (k TEXT PRIMARY KEY, b BLOB)")
        #: How many vectors came from the file, how many of those were computed again, and how many were not in it.
        self.kept = self.checked = self.computed = 0

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the embedder whose vectors are kept."""
        return self._made.identity

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads."""
        return self._made.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text, from the file where it is there."""
        import numpy as np  # noqa: PLC0415 - the list of benchmarks must not need it

        return np.stack([self._vector(text, purpose) for text in texts])

    def close(self) -> None:
        """Store what was computed; the model itself belongs to the caller."""
        self._rows.commit()

    def describe(self) -> str:
        """Return where the vectors came from, as a sentence."""
        return (
            f"vectors: {self.kept} from the file, {self.checked} of them computed again and equal; "
            f"{self.computed} were not in it"
        )

    def _vector(self, text: str, purpose: Purpose) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        import numpy as np  # noqa: PLC0415

        key = hashlib.sha256(f"{purpose}:{text}".encode("utf-8", "surrogatepass")).hexdigest()
        row = self._rows.execute("SELECT b FROM v WHERE k = ?", (key,)).fetchone()
        kept = None if row is None else np.frombuffer(row[0], np.float32)
        if kept is not None:
            self.kept += 1
            if not key.startswith(_CHECKED):
                return kept
        made = np.asarray(self._made.embed([text], purpose)[0], np.float32)
        if kept is None:
            self.computed += 1
            self._rows.execute("INSERT OR REPLACE INTO v VALUES (?, ?)", (key, made.tobytes()))
            return made
        self.checked += 1
        if kept.shape != made.shape or float(made @ kept) < _SAME:
            raise InvalidInput(f"the kept vector of {text[:60]!r} is not the model's; delete {self._path}")
        return kept


def local_embedder(kept: Path | None = None, model: str = "") -> "Embedder | KeptVectors":
    """Return the local embedder with a model, else the default one, and with a file for its vectors if one is given."""
    made = open_embedder(EmbeddingSettings(provider="local", model=model), os.environ)
    if made is None:
        raise ModelMissing("no local embedder is installed; run: pip install 'recollectum[local]'")
    return made if kept is None else KeptVectors(made, kept)
