"""CachedEmbedder: looks a vector up by the digest of its text before it computes it (LRU)."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Embedder
from recollectum.models.embedding.vectors import decode, encode, restore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollectum.models.embedding.port import Vectors


class VectorCache(Protocol):
    """A cache of small values by key, which may drop any of them at any time.

    Text can be reconstructed from vectors, so the cache must be protected like the embedded texts.
    """

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the cached values of these keys."""
        ...

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Store these values, in place of older ones."""
        ...


class LatestVectors:
    """An LRU cache in memory."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = Lock()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the cached values, and mark them as most recently used."""
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
            for key in found:
                self._kept.move_to_end(key)
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Store these values, and evict the least recently used."""
        with self._lock:
            for key, value in values.items():
                self._kept[key] = value
                self._kept.move_to_end(key)
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)


class CachedEmbedder:
    """An embedder that looks up a vector before computing it, for the given purposes.

    Vectors are stored in half precision: each component is rounded to 11 bits, and the cosine to the exact vector stays
    above 0.999999. A vector is also rounded when it is first returned, so that it is the same whether it was cached or
    computed.
    """

    def __init__(self, inner: Embedder, store: VectorCache, *, purposes: Iterable[Purpose] = tuple(Purpose)) -> None:
        self.inner = inner
        self._store = store
        self._purposes = frozenset(purposes)

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the inner embedder."""
        return self.inner.identity

    @property
    def max_tokens(self) -> int:
        """Return the limit of the inner embedder."""
        return self.inner.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """Return one row for each text, in order; equal texts are computed once."""
        if purpose not in self._purposes or not texts:
            return self.inner.embed(texts, purpose)
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        keys = cache_keys(self.identity, texts, purpose)
        wanted = dict(zip(keys, texts, strict=True))
        rows = self._kept(list(wanted))
        rows |= self._computed({key: text for key, text in wanted.items() if key not in rows}, purpose)
        if len({row.size for row in rows.values()}) > 1:
            # The endpoint now serves another model under the same name, and the two must not be mixed.
            rows = self._computed(wanted, purpose)
        return np.stack([rows[key] for key in keys])

    def close(self) -> None:
        """Close the inner embedder."""
        self.inner.close()

    def _kept(self, keys: Sequence[bytes]) -> "dict[bytes, NDArray[np.float32]]":
        """Return the valid vectors in the cache; a damaged one is computed again."""
        found = self._store.get_many(keys)
        rows = ((key, decode(value, self.identity.dimensions)) for key, value in found.items())
        return {key: row for key, row in rows if row is not None}

    def _computed(self, texts: Mapping[bytes, str], purpose: Purpose) -> "dict[bytes, NDArray[np.float32]]":
        """Compute and store the vectors of these texts, and return them by key."""
        if not texts:
            return {}
        values = dict(zip(texts, encode(self.inner.embed(list(texts.values()), purpose)), strict=True))
        self._store.put_many(values)
        return {key: restore(value) for key, value in values.items()}


def cache_keys(identity: EmbedderIdentity, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
    """Return a key for each text: the digest of the embedder, the purpose and the text."""
    about = blake2b(f"{identity.text_key()}\0{purpose}".encode(), digest_size=32).digest()
    return [blake2b(_content(text), digest_size=32, key=about).digest() for text in texts]


def _content(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
