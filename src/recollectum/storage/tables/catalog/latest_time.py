"""Reads and writes the latest_time table of the catalog: the latest time that the home has seen."""

from datetime import datetime

from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

_FIND = "SELECT at FROM latest_time"
_ADVANCE = """
    INSERT INTO latest_time (one, at) VALUES (1, :at)
    ON CONFLICT (one) DO UPDATE SET at = excluded.at WHERE excluded.at > latest_time.at
"""


def find(tx: Tx) -> datetime | None:
    """Return the latest time that was stored, or None before the first."""
    rows = tx.rows(_FIND, {})
    return moment(rows[0][0]) if rows else None


def advance(tx: Tx, at: datetime) -> None:
    """Store a time, unless a later one is stored."""
    tx.run(_ADVANCE, {"at": micros(at)})
