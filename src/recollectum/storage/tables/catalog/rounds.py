"""Reads and writes the rounds table of the catalog: the last run of each kind of upkeep."""

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "name, vault, every_seconds, started_at, finished_at, next_at, failures, counts, trouble, seen"
# A vault may have been destroyed while a round of upkeep ran on it.
_SAVE = f"""
    INSERT INTO rounds ({_COLUMNS})
    SELECT :name, :vault, :every_seconds, :started_at, :finished_at, :next_at, :failures, :counts, :trouble, :seen
    WHERE CAST(:vault AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM vaults WHERE id = :vault)
    ON CONFLICT (name, coalesce(vault, '')) DO UPDATE SET
        every_seconds = excluded.every_seconds, started_at = excluded.started_at, finished_at = excluded.finished_at,
        next_at = excluded.next_at, failures = excluded.failures, counts = excluded.counts,
        trouble = excluded.trouble, seen = excluded.seen
"""  # noqa: S608  (constants of this file)
_ALL = f"SELECT {_COLUMNS} FROM rounds ORDER BY name, coalesce(vault, '')"  # noqa: S608  (see above)
_OF = f"SELECT {_COLUMNS} FROM rounds WHERE name = :name"  # noqa: S608  (see above)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    """The last run of one kind of upkeep, in the whole home or in one vault."""

    name: str
    #: The id of the vault; None for the whole home.
    vault: str | None
    every_seconds: float
    started_at: datetime
    finished_at: datetime
    next_at: datetime
    #: The number of failures in a row.
    failures: int = 0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    trouble: str | None = None
    seen: str = ""


def save(tx: Tx, row: RoundRow) -> None:
    """Store the result of a round in place of the previous one; do nothing if its vault no longer exists."""
    params = {
        "name": row.name,
        "vault": row.vault,
        "every_seconds": row.every_seconds,
        "started_at": micros(row.started_at),
        "finished_at": micros(row.finished_at),
        "next_at": micros(row.next_at),
        "failures": row.failures,
        "counts": json.dumps(dict(row.counts)),
        "trouble": row.trouble,
        "seen": row.seen,
    }
    tx.run(_SAVE, params)


def everything(tx: Tx) -> list[RoundRow]:
    """Return every round of the home and of each vault, by name."""
    return [_from_row(row) for row in tx.rows(_ALL, {})]


def by_vault(tx: Tx, name: str) -> dict[str | None, RoundRow]:
    """Return the rounds of one name, by the id of their vault; None is the whole home."""
    found = (_from_row(row) for row in tx.rows(_OF, {"name": name}))
    return {one.vault: one for one in found}


def _from_row(row: Row) -> RoundRow:
    return RoundRow(
        name=row[0],
        vault=row[1],
        every_seconds=row[2],
        started_at=moment(row[3]),
        finished_at=moment(row[4]),
        next_at=moment(row[5]),
        failures=row[6],
        counts=json.loads(row[7]),
        trouble=row[8],
        seen=row[9],
    )
