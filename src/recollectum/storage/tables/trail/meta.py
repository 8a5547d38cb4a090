"""Reads and writes the meta table: named facts about the vault."""

from recollectum.storage.port import Tx

_GET = "SELECT value FROM meta WHERE name = :name"
_PUT = "INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


def find(tx: Tx, name: str) -> str | None:
    """Return the fact of that name, or None."""
    rows = tx.rows(_GET, {"name": name})
    return rows[0][0] if rows else None


def save(tx: Tx, name: str, value: str) -> None:
    """Set the fact of that name."""
    tx.run(_PUT, {"name": name, "value": value})
