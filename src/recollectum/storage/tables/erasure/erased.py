"""Reads and writes the catalog's erasure ledger: keyed digests of erased items, their secrets, and departing people."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment, moment_or_none

_SECRETS = "SELECT name, value FROM erasure_secrets"
_SECRET = "SELECT value FROM erasure_secrets WHERE name = :name"
_KEEP_SECRET = "INSERT INTO erasure_secrets (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
_ADD = "INSERT INTO erased (vault, digest, at) VALUES (:vault, :digest, :at) ON CONFLICT DO NOTHING"
_EVERYTHING = "SELECT vault, digest, at FROM erased ORDER BY number"
_SIZE = "SELECT count(*), max(at) FROM erased"
_LAST = "SELECT coalesce(max(number), 0) FROM erased WHERE vault = :vault"
_LAST_TIME = "SELECT max(at) FROM erased WHERE vault = :vault"
_OF = "SELECT digest FROM erased WHERE vault = :vault"
_ANY = "SELECT 1 FROM erased WHERE vault = :vault AND digest = :digest"
_DEPART = """
    INSERT INTO departures (person, id, digest, by, at, vaults, counts)
    VALUES (:person, :id, :digest, :by, :at, :vaults, :counts) ON CONFLICT DO NOTHING
"""
_DEPARTURES = "SELECT person, id, digest, by, at, vaults, counts FROM departures"
_GONE = "DELETE FROM departures WHERE person = :person"
_FORGET_VAULT = "DELETE FROM vaults WHERE id = :id"
_FORGET_GRANTS = "DELETE FROM grants WHERE owner = :person"


class ErasedItem(NamedTuple):
    """One thing that was erased: the digest of its vault and its own, and when."""

    vault: bytes
    digest: bytes
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A person whose vaults are being destroyed."""

    person: str
    id: str
    digest: str
    by: str
    at: datetime
    vaults: tuple[str, ...]
    counts: Mapping[str, int]


def secret(tx: Tx, name: str, fresh: bytes) -> bytes:
    """Return the home's secret of that name; store `fresh` as the secret if there is none."""
    tx.run(_KEEP_SECRET, {"name": name, "value": fresh})
    return tx.rows(_SECRET, {"name": name})[0][0]


def find_secret(tx: Tx, name: str) -> bytes | None:
    """Return the home's secret of that name, or None."""
    rows = tx.rows(_SECRET, {"name": name})
    return rows[0][0] if rows else None


def secrets(tx: Tx) -> dict[str, bytes]:
    """Return all secrets of the home's ledger by their names."""
    return {row[0]: row[1] for row in tx.rows(_SECRETS, {})}


def everything(tx: Tx) -> list[ErasedItem]:
    """Return all that was erased, oldest first."""
    return [ErasedItem(row[0], row[1], moment(row[2])) for row in tx.rows(_EVERYTHING, {})]


def size(tx: Tx) -> tuple[int, int | None]:
    """Return how many things were erased, and when the last one was."""
    ((count, latest),) = tx.rows(_SIZE, {})
    return count, latest


def add(tx: Tx, vault: bytes, digests: Iterable[bytes], at: datetime) -> int:
    """Record what was erased from a vault, and return the vault's last ledger number."""
    for digest in digests:
        tx.run(_ADD, {"vault": vault, "digest": digest, "at": micros(at)})
    return last(tx, vault)


def last(tx: Tx, vault: bytes) -> int:
    """Return the last ledger number of a vault; 0 when nothing was erased from it."""
    return tx.rows(_LAST, {"vault": vault})[0][0]


def last_time(tx: Tx, vault: bytes) -> datetime | None:
    """Return the time of the last ledger entry of a vault."""
    return moment_or_none(tx.rows(_LAST_TIME, {"vault": vault})[0][0])


def of(tx: Tx, vault: bytes) -> set[bytes]:
    """Return the digests of everything that was erased from a vault."""
    return {row[0] for row in tx.rows(_OF, {"vault": vault})}


def is_noted(tx: Tx, vault: bytes, digest: bytes) -> bool:
    """Return whether a digest was erased from a vault."""
    return bool(tx.rows(_ANY, {"vault": vault, "digest": digest}))


def depart(tx: Tx, one: Departure) -> None:
    """Record that a person is being erased; calling it again changes nothing."""
    row = {"person": one.person, "id": one.id, "digest": one.digest, "by": one.by, "at": micros(one.at)}
    lists = {"vaults": json.dumps(one.vaults), "counts": json.dumps(dict(one.counts), sort_keys=True)}
    tx.run(_DEPART, {**row, **lists})


def departures(tx: Tx) -> list[Departure]:
    """Return everybody who is being erased."""
    return [
        Departure(
            person=row[0],
            id=row[1],
            digest=row[2],
            by=row[3],
            at=moment(row[4]),
            vaults=tuple(json.loads(row[5])),
            counts=json.loads(row[6]),
        )
        for row in sorted(tx.rows(_DEPARTURES, {}))
    ]


def strike(tx: Tx, person: str, vault_ids: Iterable[str]) -> None:
    """Delete a person's vaults, and the grants to enter them, from the catalog."""
    for vault_id in vault_ids:
        tx.run(_FORGET_VAULT, {"id": vault_id})
    tx.run(_FORGET_GRANTS, {"person": person})


def gone(tx: Tx, person: str) -> None:
    """Delete the departure of a person of whom nothing is left."""
    tx.run(_GONE, {"person": person})
