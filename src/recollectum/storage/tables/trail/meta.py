"""Reads and writes the meta table: named facts about the vault."""

from recollectum.storage.port import Tx

_GET = "SELECT value FROM meta WHERE name = :name"
_PUT = "INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_BEGINNING = "SELECT name, value FROM meta WHERE name >= :first AND name < :beyond ORDER BY name"
_REMOVE = "DELETE FROM meta WHERE name = :name"
_REMOVE_BEGINNING = "DELETE FROM meta WHERE name >= :first AND name < :beyond"


def find(tx: Tx, name: str) -> str | None:
    """Return the fact of that name, or None."""
    rows = tx.rows(_GET, {"name": name})
    return rows[0][0] if rows else None


def find_kept(tx: Tx, name: str) -> str | None:
    """Return the same of a fact that every transaction asks for; none of a profile, which a trigger deletes."""
    rows = tx.kept_rows("meta", _GET, {"name": name})
    return rows[0][0] if rows else None


def save(tx: Tx, name: str, value: str) -> None:
    """Set the fact of that name."""
    tx.run(_PUT, {"name": name, "value": value})


def beginning_with(tx: Tx, prefix: str) -> list[tuple[str, str]]:
    """Return the facts whose names begin with a prefix, by name."""
    return [(row[0], row[1]) for row in tx.rows(_BEGINNING, _range(prefix))]


def remove(tx: Tx, name: str) -> None:
    """Delete the fact of that name."""
    tx.run(_REMOVE, {"name": name})


def remove_beginning_with(tx: Tx, prefix: str) -> None:
    """Delete the facts whose names begin with a prefix."""
    tx.run(_REMOVE_BEGINNING, _range(prefix))


def _range(prefix: str) -> dict[str, str]:
    return {"first": prefix, "beyond": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
