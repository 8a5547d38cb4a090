"""Reads and writes the repeats table of the catalog: idempotency keys and the stored result of each request."""

from datetime import datetime

from recollectum.domain.access.owner import Owner
from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_FIND = "SELECT request, answer FROM repeats WHERE digest = :digest"
_BEGIN = """
    INSERT INTO repeats (digest, owner, request, begun_at) VALUES (:digest, :owner, :request, :begun_at)
"""
_FINISH = "UPDATE repeats SET answer = :answer WHERE digest = :digest"
_DROP = "DELETE FROM repeats WHERE digest = :digest"
_PRUNE = "DELETE FROM repeats WHERE begun_at < :before"


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """The stored state of one request."""

    request: bytes
    #: The result as JSON; None while the request runs, or if a process ended in the middle of it.
    answer: str | None


def find(tx: Tx, digest: bytes) -> IdempotentRequest | None:
    """Return the request with that idempotency key, or None."""
    rows = tx.rows(_FIND, {"digest": digest})
    return IdempotentRequest(*rows[0]) if rows else None


def begin(tx: Tx, digest: bytes, owner: Owner, request: bytes, at: datetime) -> None:
    """Record that a request has begun."""
    tx.run(_BEGIN, {"digest": digest, "owner": str(owner), "request": request, "begun_at": micros(at)})


def finish(tx: Tx, digest: bytes, answer: str) -> None:
    """Store the result of a request."""
    tx.run(_FINISH, {"digest": digest, "answer": answer})


def drop(tx: Tx, digest: bytes) -> None:
    """Delete a request that had no effect."""
    tx.run(_DROP, {"digest": digest})


def prune(tx: Tx, before: datetime) -> int:
    """Delete the requests from before a time, and return how many."""
    return tx.run(_PRUNE, {"before": micros(before)})
