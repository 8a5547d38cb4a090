"""Reads and writes the table of backups that were made outside the folder of backups: when, where, of which vaults."""

import json
from collections.abc import Collection
from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

_SAVE = """
    INSERT INTO backups_elsewhere (place, made_at, vaults) VALUES (:place, :made_at, :vaults)
    ON CONFLICT (place) DO UPDATE SET made_at = excluded.made_at, vaults = excluded.vaults
"""
_ALL = "SELECT place, made_at, vaults FROM backups_elsewhere"
_REMOVE = "DELETE FROM backups_elsewhere WHERE place = :place"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupElsewhere:
    """A backup that the home does not hold itself."""

    place: str
    made_at: datetime
    vaults: tuple[str, ...]


def save(tx: Tx, one: BackupElsewhere) -> None:
    """Record a backup; one at the same place is replaced."""
    tx.run(_SAVE, {"place": one.place, "made_at": micros(one.made_at), "vaults": json.dumps(one.vaults)})


def of(tx: Tx, vault_ids: Collection[str] | None = None) -> list[BackupElsewhere]:
    """Return the backups that hold one of these vaults, or all, oldest first."""
    found = [
        BackupElsewhere(place=row[0], made_at=moment(row[1]), vaults=tuple(json.loads(row[2])))
        for row in sorted(tx.rows(_ALL, {}), key=lambda row: (row[1], row[0]))
    ]
    return [one for one in found if vault_ids is None or set(one.vaults) & set(vault_ids)]


def remove(tx: Tx, place: str) -> None:
    """Delete the record of a backup that is gone."""
    tx.run(_REMOVE, {"place": place})
