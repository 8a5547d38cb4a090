"""Reads and writes the vaults table of the catalog: the file of each owner."""

import json
from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

from recollectum.domain.access.owner import Owner
from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_ADD = """
    INSERT INTO vaults (owner, id, encrypted, created_at) VALUES (:owner, :id, :encrypted, :created_at)
    ON CONFLICT (owner) DO NOTHING
"""
_ONE = "SELECT owner, id, encrypted, created_at, host FROM vaults WHERE owner = :owner"
_MARK = "UPDATE vaults SET encrypted = :encrypted"
_IDS = "SELECT id FROM vaults ORDER BY id"
_OF = "SELECT owner, id, encrypted, created_at, host FROM vaults WHERE id IN (SELECT value FROM texts(:ids))"
_ALL = "SELECT owner, id, encrypted, created_at, host FROM vaults"
_PLACE = "SELECT place FROM vaults WHERE id = :id"
_PLACES = "SELECT id, place FROM vaults WHERE place IS NOT NULL"
_MOVE = "UPDATE vaults SET place = :place WHERE id = :id"
_GATHER = "UPDATE vaults SET place = NULL WHERE place IS NOT NULL"
_EXCHANGE = "UPDATE vaults SET place = CASE WHEN place IS NULL THEN CAST(:left AS TEXT) END"


class StoragePlace(StrEnum):
    """Where a vault can be that is not beside the catalog."""

    FILES = "files"
    #: If the catalog is in a database, another one.
    DATABASE = "database"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultEntry:
    """One vault as the catalog lists it. The id is random: a name never becomes part of a path."""

    owner: Owner
    id: str
    encrypted: bool
    created_at: datetime
    #: The id of the host that keeps notes, transcripts and LEARNINGS.md; None while there is none.
    host: str | None = None


def add(tx: Tx, entry: VaultEntry) -> VaultEntry:
    """Add a vault unless the owner has one, and return the vault that exists."""
    params = {
        "owner": str(entry.owner),
        "id": entry.id,
        "encrypted": int(entry.encrypted),
        "created_at": micros(entry.created_at),
    }
    tx.run(_ADD, params)
    return _from_row(tx.rows(_ONE, {"owner": str(entry.owner)})[0])


def mark_encrypted(tx: Tx, *, encrypted: bool) -> None:
    """Record of all vaults that they are encrypted, or that they are not."""
    tx.run(_MARK, {"encrypted": int(encrypted)})


def find(tx: Tx, owner: Owner) -> VaultEntry | None:
    """Return the vault of an owner, or None."""
    rows = tx.rows(_ONE, {"owner": str(owner)})
    return _from_row(rows[0]) if rows else None


def everything(tx: Tx) -> list[VaultEntry]:
    """Return all vaults, by owner."""
    return [_from_row(row) for row in sorted(tx.rows(_ALL, {}), key=lambda row: row[0])]


def of(tx: Tx, vault_ids: Collection[str]) -> dict[str, VaultEntry]:
    """Return those of these vaults that exist, by their ids."""
    found = (_from_row(row) for row in tx.rows(_OF, {"ids": json.dumps(list(vault_ids))}))
    return {entry.id: entry for entry in found}


def ids(tx: Tx) -> list[str]:
    """Return the ids of all vaults; they can be read without the key of the catalog."""
    return [row[0] for row in tx.rows(_IDS, {})]


def find_place(tx: Tx, vault_id: str) -> StoragePlace | None:
    """Return where a vault is; None: beside the catalog."""
    rows = tx.rows(_PLACE, {"id": vault_id})
    return StoragePlace(rows[0][0]) if rows and rows[0][0] else None


def places(tx: Tx) -> dict[str, StoragePlace]:
    """Return where the vaults are of which the catalog says so; the others are beside it."""
    return {row[0]: StoragePlace(row[1]) for row in tx.rows(_PLACES, {})}


def change_place(tx: Tx, vault_id: str, place: StoragePlace | None) -> None:
    """Record that a vault was moved; None: it is beside the catalog."""
    tx.run(_MOVE, {"id": vault_id, "place": place})


def gather(tx: Tx) -> None:
    """Record that all vaults are beside the catalog."""
    tx.run(_GATHER, {})


def exchange_places(tx: Tx, left: StoragePlace) -> None:
    """Record that the catalog is now where the other vaults are, and those that were beside it are where it left."""
    tx.run(_EXCHANGE, {"left": left})


def _from_row(row: Row) -> VaultEntry:
    return VaultEntry(
        owner=Owner.parse(row[0]), id=row[1], encrypted=bool(row[2]), created_at=moment(row[3]), host=row[4]
    )
