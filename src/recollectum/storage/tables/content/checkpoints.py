"""Reads and writes the checkpoints table: named positions in conversations."""

from recollectum.domain.session import Checkpoint
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "name, session_id, position, saved_at"
_SAVE = """
    INSERT INTO checkpoints (name, session_id, position, saved_at)
    VALUES (:name, :session_id, :position, :saved_at)
    ON CONFLICT (name) DO UPDATE
       SET session_id = excluded.session_id, position = excluded.position, saved_at = excluded.saved_at
"""
_FIND = f"SELECT {_COLUMNS} FROM checkpoints WHERE name = :name"  # noqa: S608  (constants of this file)
_ALL = f"""
    SELECT {_COLUMNS} FROM checkpoints
     WHERE CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id
"""  # noqa: S608
_DELETE = "DELETE FROM checkpoints WHERE name = :name"


def save(tx: Tx, made: Checkpoint) -> None:
    """Store a checkpoint; an existing one of that name moves to the new position."""
    row = {
        "name": made.name,
        "session_id": made.session_id,
        "position": made.position,
        "saved_at": micros(made.saved_at),
    }
    tx.run(_SAVE, row)


def find(tx: Tx, name: str) -> Checkpoint | None:
    """Return the checkpoint of that name, or None."""
    rows = tx.rows(_FIND, {"name": name})
    return _from_row(rows[0]) if rows else None


def everything(tx: Tx, session_id: str | None) -> list[Checkpoint]:
    """Return all checkpoints, or those of one session, the newest first."""
    rows = sorted(tx.rows(_ALL, {"session_id": session_id}), key=lambda row: (-row[3], row[0]))
    return [_from_row(row) for row in rows]


def delete(tx: Tx, name: str) -> bool:
    """Delete a checkpoint, and return whether it existed."""
    return tx.run(_DELETE, {"name": name}) == 1


def _from_row(row: Row) -> Checkpoint:
    return Checkpoint(name=row[0], session_id=row[1], position=row[2], saved_at=moment(row[3]))
