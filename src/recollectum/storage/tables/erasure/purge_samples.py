"""Reads and writes what is kept of a purge's samples: in the vault, or in the catalog for a whole person."""

from collections.abc import Iterable

from recollectum.storage.port import Tx

_ADD = "INSERT INTO purge_samples (purge_id, digest, bits) VALUES (:id, :digest, :bits) ON CONFLICT DO NOTHING"
_OF = "SELECT bits, digest FROM purge_samples WHERE purge_id = :id ORDER BY digest"
_REMOVE = "DELETE FROM purge_samples WHERE purge_id = :id"


def add(tx: Tx, purge_id: str, samples: Iterable[tuple[str, str]]) -> None:
    """Store the bits and the digest of each sample."""
    for bits, digest in samples:
        tx.run(_ADD, {"id": purge_id, "digest": digest, "bits": bits})


def of(tx: Tx, purge_id: str) -> list[tuple[str, str]]:
    """Return the bits and the digest of each sample of a purge."""
    return [(row[0], row[1]) for row in tx.rows(_OF, {"id": purge_id})]


def remove(tx: Tx, purge_id: str) -> None:
    """Delete the samples of a purge."""
    tx.run(_REMOVE, {"id": purge_id})
