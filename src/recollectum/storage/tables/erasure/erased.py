"""Reads and writes the catalog's erasure ledger: keyed digests of erased items, their secrets, and departing people."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment, moment_or_none

_SECRET = "SELECT value FROM erasure_secrets WHERE name = :name"
_KEEP_SECRET = "INSERT INTO erasure_secrets (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
_ADD = "INSERT INTO erased (vault, digest, at) VALUES (:vault, :digest, :at) ON CONFLICT DO NOTHING"
_LAST = "SELECT coalesce(max(number), 0) FROM erased WHERE vault = :vault"
_LAST_TIME = "SELECT max(at) FROM erased WHERE vault = :vault"
_OF = "SELECT digest FROM erased WHERE vault = :vault"
_ANY = "SELECT 1 FROM erased WHERE vault = :vault AND digest = :digest"
_DEPART = """
    INSERT INTO departures (person, id, digest, by, at, vaults, counts)
    VALUES (:person, :id, :digest, :by, :at, :vaults, :counts) ON CONFLICT DO NOTHING
"""
_DEPARTURES = "SELECT person, id, digest, by, at, vaults, counts FROM departures ORDER BY person"
_GONE = "DELETE FROM departures WHERE person = :person"
_FORGET_VAULT = "DELETE FROM vaults WHERE id = :id"
_FORGET_GRANTS = "DELETE FROM grants WHERE owner = :person"


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
    """The home's secret of that name; `fresh` becomes it where there is none."""
    tx.run(_KEEP_SECRET, {"name": name, "value": fresh})
    return tx.rows(_SECRET, {"name": name})[0][0]


def find_secret(tx: Tx, name: str) -> bytes | None:
    """The home's secret of that name, if it was made."""
    rows = tx.rows(_SECRET, {"name": name})
    return rows[0][0] if rows else None


def add(tx: Tx, vault: bytes, digests: Iterable[bytes], at: datetime) -> int:
    """Note what was erased from a vault; the last number there is for it now."""
    for digest in digests:
        tx.run(_ADD, {"vault": vault, "digest": digest, "at": micros(at)})
    return last(tx, vault)


def last(tx: Tx, vault: bytes) -> int:
    """The last number noted for a vault; 0 when nothing was erased from it."""
    return tx.rows(_LAST, {"vault": vault})[0][0]


def last_time(tx: Tx, vault: bytes) -> datetime | None:
    """When something was last noted for a vault."""
    return moment_or_none(tx.rows(_LAST_TIME, {"vault": vault})[0][0])


def of(tx: Tx, vault: bytes) -> set[bytes]:
    """The digests of everything that was erased from a vault."""
    return {row[0] for row in tx.rows(_OF, {"vault": vault})}


def is_noted(tx: Tx, vault: bytes, digest: bytes) -> bool:
    """Whether that was erased from a vault."""
    return bool(tx.rows(_ANY, {"vault": vault, "digest": digest}))


def depart(tx: Tx, one: Departure) -> None:
    """Note that a person is on their way out; noting it again changes nothing."""
    row = {"person": one.person, "id": one.id, "digest": one.digest, "by": one.by, "at": micros(one.at)}
    lists = {"vaults": json.dumps(one.vaults), "counts": json.dumps(dict(one.counts), sort_keys=True)}
    tx.run(_DEPART, {**row, **lists})


def departures(tx: Tx) -> list[Departure]:
    """Everybody who is on their way out."""
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
        for row in tx.rows(_DEPARTURES, {})
    ]


def strike(tx: Tx, one: Departure) -> None:
    """Take a person's vaults, and leave to enter them, out of the catalog."""
    for vault_id in one.vaults:
        tx.run(_FORGET_VAULT, {"id": vault_id})
    tx.run(_FORGET_GRANTS, {"person": one.person})


def gone(tx: Tx, person: str) -> None:
    """Note that nothing is left of a person, by forgetting that they were on their way out."""
    tx.run(_GONE, {"person": person})
