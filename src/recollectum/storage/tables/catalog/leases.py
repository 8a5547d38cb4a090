"""Reads and writes the leases table of the catalog: locks that hold across all hosts of a database."""

from datetime import datetime

from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_TAKE = """
    INSERT INTO leases (name, claim, lease_until) VALUES (:name, :claim, :until)
    ON CONFLICT (name) DO UPDATE SET claim = excluded.claim, lease_until = excluded.lease_until
     WHERE leases.lease_until <= :now OR leases.claim = excluded.claim
"""
_RENEW = "UPDATE leases SET lease_until = :until WHERE name = :name AND claim = :claim"
_RELEASE = "DELETE FROM leases WHERE name = :name AND claim = :claim"


def take(tx: Tx, name: str, claim: str, now: datetime, until: datetime) -> bool:
    """Take a lease that is free or has run out; return False while another claim holds it."""
    given = {"name": name, "claim": claim, "now": micros(now), "until": micros(until)}
    return tx.run(_TAKE, given) == 1


def renew(tx: Tx, name: str, claim: str, until: datetime) -> bool:
    """Extend a lease; return False when another claim has it by now."""
    return tx.run(_RENEW, {"name": name, "claim": claim, "until": micros(until)}) == 1


def release(tx: Tx, name: str, claim: str) -> None:
    """Release a lease, if this claim still holds it."""
    tx.run(_RELEASE, {"name": name, "claim": claim})
