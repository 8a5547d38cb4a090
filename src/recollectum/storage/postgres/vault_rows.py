"""Reads and writes what exists on PostgreSQL alone: the number of each vault, and the rows of all its tables."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollectum.storage.port import Tx

#: Stands for the mark of a key that is destroyed.
DESTROYED = "destroyed"
# Creating it counts as a write: what is empty and was not written for long is taken for abandoned.
_ADD = """
    INSERT INTO vault_state (vault_id, key_mark, last_write_at)
    VALUES (:vault_id, :key_mark, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)) RETURNING vault
"""
_FIND = "SELECT vault FROM vault_state WHERE vault_id = :vault_id"
_PLACE = "SELECT vault, last_write_at FROM vault_state WHERE vault_id = :vault_id AND vault > 0"
_IDS = "SELECT vault_id FROM vault_state ORDER BY vault_id"
_CHANGES = """
    SELECT vault_id, changes FROM vault_state WHERE vault_id IN (SELECT value FROM texts(:vault_ids)) AND vault > 0
"""
_ENCRYPTED = """
    SELECT 1 FROM vault_state WHERE key_mark IS NOT NULL
    UNION ALL SELECT 1 FROM people WHERE owner > CAST('\\x02' AS bytea) LIMIT 1
"""
#: The tables of the vaults, each after those that refer to it.
_TABLES = """
    WITH RECURSIVE
    own AS (SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relrowsecurity),
    ranked (oid, rank) AS (
        SELECT oid, 0 FROM own
        UNION
        SELECT k.confrelid, r.rank + 1 FROM ranked r JOIN pg_constraint k ON k.conrelid = r.oid
         WHERE k.contype = 'f' AND k.confrelid <> k.conrelid AND r.rank < 50
    )
    SELECT o.relname FROM own o JOIN ranked r ON r.oid = o.oid GROUP BY o.relname ORDER BY max(r.rank), o.relname
"""
_NUMBERS = "SELECT name, last FROM counters ORDER BY name"
_KEEP_NUMBER = """
    INSERT INTO counters (name, last) VALUES (:name, :last)
    ON CONFLICT (name) DO UPDATE SET last = greatest(counters.last, excluded.last)
"""
_INDEXED = "SELECT number FROM search WHERE terms IS NOT NULL ORDER BY number"
_KEY_MARK = """
    SELECT key_mark FROM recollectum_catalog.vault_state
     WHERE vault = CAST(current_setting('recollectum.vault') AS bigint)
"""
_SAVE_KEY_MARK = """
    UPDATE recollectum_catalog.vault_state SET key_mark = :mark
     WHERE vault = CAST(current_setting('recollectum.vault') AS bigint)
"""
_REMOVE_STATE = """
    DELETE FROM recollectum_catalog.vault_state
     WHERE abs(vault) = CAST(current_setting('recollectum.vault') AS bigint)
"""
# The negative number: no transaction of the vault finds it, whichever release of the program begins one.
_MARK_MOVED = """
    UPDATE recollectum_catalog.vault_state SET vault = -vault
     WHERE vault = CAST(current_setting('recollectum.vault') AS bigint)
"""
# Conflicts with the weak lock that every claim holds on this row.
_BAR_CLAIMS = "SELECT one FROM catalog_writes FOR UPDATE"


class VaultRow(NamedTuple):
    """The number of a vault, and the time of its last write in microseconds."""

    vault: int
    last_write_at: int


def add(tx: Tx, vault_id: str, key_mark: str) -> int:
    """Create a vault without rows, in a transaction of the catalog; return its number."""
    return int(tx.rows(_ADD, {"vault_id": vault_id, "key_mark": key_mark or None})[0][0])


def find(tx: Tx, vault_id: str) -> int | None:
    """Return the number of a vault, in a transaction of the catalog; a negative one was moved away."""
    rows = tx.rows(_FIND, {"vault_id": vault_id})
    return int(rows[0][0]) if rows else None


def has_encrypted(tx: Tx) -> bool:
    """Return whether a vault or a person is encrypted, in a transaction of the catalog without its key."""
    return bool(tx.rows(_ENCRYPTED, {}))


def mark_moved(tx: Tx) -> None:
    """Mark a vault as moved away, in a transaction of the vault."""
    tx.run(_MARK_MOVED, {})


def bar_claims(tx: Tx) -> None:
    """Wait for the claims that are running, and let no other begin before this transaction of the catalog ends."""
    tx.rows(_BAR_CLAIMS, {})


def place(tx: Tx, vault_id: str) -> VaultRow | None:
    """Return the number of a vault and the time of its last write, in a transaction of the catalog."""
    rows = tx.rows(_PLACE, {"vault_id": vault_id})
    return VaultRow(*rows[0]) if rows else None


def ids(tx: Tx) -> list[str]:
    """Return the ids of all vaults, in a transaction of the catalog."""
    return [row[0] for row in tx.rows(_IDS, {})]


def changes(tx: Tx, vault_ids: Sequence[str]) -> dict[str, int]:
    """Return how often each of these vaults was written, in a transaction of the catalog."""
    return dict((row[0], row[1]) for row in tx.rows(_CHANGES, {"vault_ids": json.dumps(list(vault_ids))}))


def size(tx: Tx) -> int:
    """Return about how many bytes the rows of a vault take, without indexes, in a transaction of the vault."""
    listed = [row[0] for row in tx.rows(_TABLES, {})]
    # The names come from the server's own catalog.
    summed = " + ".join(f'(SELECT coalesce(sum(pg_column_size(t)), 0) FROM "{name}" t)' for name in listed)  # noqa: S608
    return int(tx.rows(f"SELECT {summed}", {})[0][0])


def counts(tx: Tx) -> dict[str, int]:
    """Return the number of rows of each table of a vault, in a transaction of the vault."""
    listed = sorted(row[0] for row in tx.rows(_TABLES, {}))
    counted = ", ".join(f'(SELECT count(*) FROM "{name}")' for name in listed)  # noqa: S608 - see `size`
    return dict(zip(listed, tx.rows(f"SELECT {counted}", {})[0], strict=True))


def remove(tx: Tx) -> None:
    """Delete every row of a vault and the vault itself, in a transaction of the vault."""
    for name in [row[0] for row in tx.rows(_TABLES, {})]:
        # No condition: row-level security limits it to this vault.
        tx.run(f'DELETE FROM "{name}"', {})  # noqa: S608 - a name from the server's own catalog
    tx.run(_REMOVE_STATE, {})


def find_key_mark(tx: Tx) -> str | None:
    """Return the mark of the key of a vault, in a transaction of the vault; None for one from before marks."""
    return tx.rows(_KEY_MARK, {})[0][0]


def save_key_mark(tx: Tx, mark: str) -> None:
    """Record under which key the rows of a vault are encrypted, in a transaction of the vault; "" for unknown."""
    tx.run(_SAVE_KEY_MARK, {"mark": mark or None})


def last_numbers(tx: Tx) -> dict[str, int]:
    """Return the highest number ever used, by table, in a transaction of the vault or of the catalog."""
    return {row[0]: row[1] for row in tx.rows(_NUMBERS, {})}


def keep_last_numbers(tx: Tx, numbers: Mapping[str, int]) -> None:
    """Use none of these numbers again."""
    for name, last in numbers.items():
        tx.run(_KEEP_NUMBER, {"name": name, "last": last})


def indexed(tx: Tx) -> list[int]:
    """Return the numbers of the chunks in the text index, in a transaction of the vault."""
    return [row[0] for row in tx.rows(_INDEXED, {})]
