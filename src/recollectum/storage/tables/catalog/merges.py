"""Reads and writes the merges tables of the catalog: merged people and the rows that moved with them."""

from datetime import datetime

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import Identity, Merge
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none

_COLUMNS = "id, kept, merged, merged_at, merged_by, undone_at, undone_by"
_ADD = """
    INSERT INTO merges (id, kept, merged, merged_at, merged_by) VALUES (:id, :kept, :merged, :merged_at, :merged_by)
"""
_ONE = f"SELECT {_COLUMNS} FROM merges WHERE id = :id"  # noqa: S608  (constants of this file)
_ALL = f"SELECT {_COLUMNS} FROM merges ORDER BY id"  # noqa: S608
_STANDING = f"SELECT {_COLUMNS} FROM merges WHERE merged = :merged AND undone_at IS NULL"  # noqa: S608
_END = "UPDATE merges SET undone_at = :at, undone_by = :by WHERE id = :id AND undone_at IS NULL"

# The moved rows are recorded first, because the record is made from who owns them before the move.
_NOTE = (
    """
    INSERT INTO merge_moves (merge_id, identity) SELECT :id, identity FROM identities WHERE owner = :merged
    """,
    """
    INSERT INTO merge_moves (merge_id, grant_id) SELECT :id, id FROM grants WHERE grantee = :merged
    """,
    """
    INSERT INTO merge_moves (merge_id, key_id)
    SELECT :id, id FROM api_keys WHERE owner = :merged AND revoked_at IS NULL
    """,
)
_HAND_OVER = (
    """
    UPDATE identities SET owner = :to
     WHERE identity IN (SELECT identity FROM merge_moves WHERE merge_id = :id AND identity IS NOT NULL)
    """,
    """
    UPDATE grants SET grantee = :to
     WHERE id IN (SELECT grant_id FROM merge_moves WHERE merge_id = :id AND grant_id IS NOT NULL)
    """,
    """
    UPDATE api_keys SET owner = :to
     WHERE id IN (SELECT key_id FROM merge_moves WHERE merge_id = :id AND key_id IS NOT NULL)
    """,
)
_MOVED = "SELECT identity, grant_id, key_id FROM merge_moves WHERE merge_id = :id"


def add(tx: Tx, merge: Merge) -> None:
    """Store a merge, and move all rows of the merged person to the person who is kept."""
    params = {
        "id": merge.id,
        "kept": str(merge.kept),
        "merged": str(merge.merged),
        "merged_at": micros(merge.merged_at),
        "merged_by": merge.merged_by,
    }
    tx.run(_ADD, params)
    for sql in _NOTE:
        tx.run(sql, {"id": merge.id, "merged": str(merge.merged)})
    _hand_over(tx, merge.id, merge.kept)


def undo(tx: Tx, merge: Merge, at: datetime, by: str) -> None:
    """Move back the rows that still exist, and record that the merge was undone."""
    _hand_over(tx, merge.id, merge.merged)
    tx.run(_END, {"id": merge.id, "at": micros(at), "by": by})


def find(tx: Tx, merge_id: str) -> Merge | None:
    """Return the merge with that id."""
    rows = tx.rows(_ONE, {"id": merge_id})
    return _merge(tx, rows[0]) if rows else None


def standing(tx: Tx, merged: Owner) -> Merge | None:
    """Return the merge that currently makes a person part of another."""
    rows = tx.rows(_STANDING, {"merged": str(merged)})
    return _merge(tx, rows[0]) if rows else None


def everything(tx: Tx) -> list[Merge]:
    """Return all merges, oldest first, including undone ones."""
    return [_merge(tx, row) for row in tx.rows(_ALL, {})]


def _hand_over(tx: Tx, merge_id: str, to: Owner) -> None:
    for sql in _HAND_OVER:
        tx.run(sql, {"id": merge_id, "to": str(to)})


def _merge(tx: Tx, row: Row) -> Merge:
    moved = sorted(tx.rows(_MOVED, {"id": row[0]}), key=lambda one: tuple(part or "" for part in one))
    return Merge(
        id=row[0],
        kept=Owner.parse(row[1]),
        merged=Owner.parse(row[2]),
        merged_at=moment(row[3]),
        merged_by=row[4],
        identities=tuple(Identity.parse(one[0]) for one in moved if one[0] is not None),
        grants=tuple(one[1] for one in moved if one[1] is not None),
        keys=tuple(one[2] for one in moved if one[2] is not None),
        undone_at=moment_or_none(row[5]),
        undone_by=row[6],
    )
