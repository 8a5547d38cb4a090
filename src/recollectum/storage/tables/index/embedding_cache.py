"""Reads and writes the embedding_cache table: vectors by text hash, least recently used out first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from recollectum.storage.port import Tx, Value
from recollectum.storage.row_lists import values_of
from recollectum.storage.times import micros

_GET = "SELECT text_hash, data FROM embedding_cache WHERE text_hash IN ({hashes}) AND model = :model"
_TOUCH = "UPDATE embedding_cache SET used_at = :at WHERE text_hash IN ({hashes}) AND model = :model"
_PUT = """
    INSERT INTO embedding_cache (text_hash, data, model, used_at) VALUES {rows}
    ON CONFLICT (text_hash, model) DO UPDATE SET used_at = excluded.used_at
"""
_FORGET = "DELETE FROM embedding_cache WHERE text_hash IN ({hashes})"
_COUNT = "SELECT count(*) FROM embedding_cache"
_EVICT = """
    DELETE FROM embedding_cache WHERE (text_hash, model) IN (
        SELECT text_hash, model FROM embedding_cache ORDER BY used_at, text_hash, model LIMIT :count)
"""


def find(tx: Tx, hashes: Sequence[bytes], model: bytes) -> dict[bytes, bytes]:
    """Return the cached vectors, by the hash of their text."""
    found: dict[bytes, bytes] = {}
    for listed, params in _listed(hashes):
        found.update(tx.rows(_GET.format(hashes=listed), {**params, "model": model}))
    return found


def save(tx: Tx, vectors: Mapping[bytes, bytes], model: bytes, at: datetime) -> None:
    """Store vectors by the hash of their text."""
    rows = ((text_hash, data, model, micros(at)) for text_hash, data in vectors.items())
    for listed, params in values_of(("text_hash", "data", "model", "at"), rows):
        tx.run(_PUT.format(rows=listed), params)


def touch(tx: Tx, hashes: Iterable[bytes], model: bytes, at: datetime) -> None:
    """Record that vectors were used, so that others are evicted first."""
    for listed, params in _listed(hashes):
        tx.run(_TOUCH.format(hashes=listed), {**params, "model": model, "at": micros(at)})


def forget(tx: Tx, hashes: Iterable[bytes]) -> None:
    """Delete the cached vectors of texts, whichever model made them."""
    for listed, params in _listed(hashes):
        tx.run(_FORGET.format(hashes=listed), params)


def evict(tx: Tx, most: int) -> int:
    """Delete the least recently used vectors until `most` are left; return how many were deleted."""
    surplus = tx.rows(_COUNT, {})[0][0] - most
    return tx.run(_EVICT, {"count": surplus}) if surplus > 0 else 0


def _listed(hashes: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Value]]]:
    return values_of(("hash",), ((one,) for one in hashes))
