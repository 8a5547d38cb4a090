"""Reads and writes the embedding_cache table: vectors by text hash, least recently used out first."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_GET = "SELECT data FROM embedding_cache WHERE text_hash = :text_hash AND model = :model"
_TOUCH = "UPDATE embedding_cache SET used_at = :at WHERE text_hash = :text_hash AND model = :model"
_PUT = """
    INSERT INTO embedding_cache (text_hash, model, data, used_at) VALUES (:text_hash, :model, :data, :at)
    ON CONFLICT (text_hash, model) DO UPDATE SET used_at = excluded.used_at
"""
_FORGET = "DELETE FROM embedding_cache WHERE text_hash = :text_hash"
_COUNT = "SELECT count(*) FROM embedding_cache"
_EVICT = """
    DELETE FROM embedding_cache WHERE (text_hash, model) IN (
        SELECT text_hash, model FROM embedding_cache ORDER BY used_at LIMIT :count)
"""


def find(tx: Tx, hashes: Sequence[bytes], model: bytes) -> dict[bytes, bytes]:
    """The vectors that are known, by the hash of their text."""
    found: dict[bytes, bytes] = {}
    for text_hash in hashes:
        rows = tx.rows(_GET, {"text_hash": text_hash, "model": model})
        if rows:
            found[text_hash] = rows[0][0]
    return found


def save(tx: Tx, vectors: Mapping[bytes, bytes], model: bytes, at: datetime) -> None:
    """Keep vectors by the hash of their text."""
    for text_hash, data in vectors.items():
        tx.run(_PUT, {"text_hash": text_hash, "model": model, "data": data, "at": micros(at)})


def touch(tx: Tx, hashes: Iterable[bytes], model: bytes, at: datetime) -> None:
    """Note that vectors were used, so that others go first."""
    for text_hash in hashes:
        tx.run(_TOUCH, {"text_hash": text_hash, "model": model, "at": micros(at)})


def forget(tx: Tx, hashes: Iterable[bytes]) -> None:
    """Destroy the vectors of texts, whichever model made them."""
    for text_hash in hashes:
        tx.run(_FORGET, {"text_hash": text_hash})


def evict(tx: Tx, most: int) -> int:
    """Drop the longest unused until `most` are left; how many went."""
    surplus = tx.rows(_COUNT, {})[0][0] - most
    return tx.run(_EVICT, {"count": surplus}) if surplus > 0 else 0
