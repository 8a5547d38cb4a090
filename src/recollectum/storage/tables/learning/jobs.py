"""Reads and writes the jobs table: a work queue in which a lease gives each job to one worker.

The times of leases and of retries are those of `Tx.time`: the workers may be on hosts whose clocks differ.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.page import AFTER_IDS
from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none

_COLUMNS = (
    "id, kind, subject, idempotency, state, not_before, claim, lease_until, attempts, trouble, created_at, done_at"
)
_ADD = """
    INSERT INTO jobs (id, kind, subject, idempotency, state, not_before, attempts, created_at)
    VALUES (:id, :kind, :subject, :idempotency, 'waiting', :not_before, 0, :now)
    ON CONFLICT (idempotency) DO NOTHING
"""
_BY_KEY = f"SELECT {_COLUMNS} FROM jobs WHERE idempotency = :idempotency"  # noqa: S608  (constants of this file)
_BY_ID = f"SELECT {_COLUMNS} FROM jobs WHERE id = :id"  # noqa: S608
_DUE = f"""
    SELECT {_COLUMNS} FROM jobs
     WHERE kind = :kind AND state IN ('waiting', 'claimed') AND not_before <= :now
       AND (state = 'waiting' OR lease_until <= :now)
     ORDER BY not_before, id LIMIT 1
"""  # noqa: S608
# Only a job whose lease has expired, or that has none: of two claimers, one changes no row.
_CLAIM = """
    UPDATE jobs SET state = 'claimed', claim = :claim, lease_until = :until, attempts = attempts + 1
     WHERE id = :id AND (state IN ('waiting', 'failed') OR (state = 'claimed' AND lease_until <= :now))
"""
_RENEW = "UPDATE jobs SET lease_until = :until WHERE id = :id AND state = 'claimed' AND claim = :claim"
_FINISH = """
    UPDATE jobs SET state = 'done', claim = NULL, lease_until = NULL, trouble = NULL, done_at = :now
     WHERE id = :id AND state = 'claimed' AND claim = :claim
"""
_GIVE_BACK = """
    UPDATE jobs SET state = :state, claim = NULL, lease_until = NULL, not_before = :not_before, trouble = :trouble
     WHERE id = :id AND state = 'claimed' AND claim = :claim
"""
_REARM = """
    UPDATE jobs SET state = 'waiting', attempts = 0, not_before = :now
     WHERE id = :id AND state IN ('waiting', 'failed')
"""
_PAGE = f"""
    SELECT {_COLUMNS} FROM jobs
     WHERE (CAST(:state AS TEXT) IS NULL OR state = :state) AND id < :before
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608


class JobState(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    #: Tried as often as the settings allow; it waits for a person.
    FAILED = "failed"


#: A state as callers write it: the enum member or its value.
JobStateName: TypeAlias = JobState | Literal["waiting", "claimed", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work."""

    id: str
    kind: str
    #: The subject of the job: the id of a session.
    subject: str
    #: The idempotency key: equal for equal work.
    idempotency: str
    state: JobState
    not_before: datetime
    claim: str | None
    lease_until: datetime | None
    attempts: int
    #: The error that ended the last attempt.
    trouble: str | None
    created_at: datetime
    done_at: datetime | None


def add(tx: Tx, job_id: str, *, kind: str, subject: str, idempotency: str, not_before: datetime, now: datetime) -> Job:
    """Add a job unless one with its idempotency key exists; return the job that exists."""
    params = {"id": job_id, "kind": kind, "subject": subject, "idempotency": idempotency}
    tx.run(_ADD, {**params, "not_before": micros(not_before), "now": micros(now)})
    return _from_row(tx.rows(_BY_KEY, {"idempotency": idempotency})[0])


def find(tx: Tx, job_id: str) -> Job | None:
    """Return the job with that id, or None."""
    rows = tx.rows(_BY_ID, {"id": job_id})
    return _from_row(rows[0]) if rows else None


def due(tx: Tx, kind: str, now: datetime) -> Job | None:
    """Return the job of a kind that has waited longest and has no lease."""
    rows = tx.rows(_DUE, {"kind": kind, "now": micros(now)})
    return _from_row(rows[0]) if rows else None


def claim(tx: Tx, job_id: str, *, claim: str, now: datetime, until: datetime) -> Job | None:
    """Lease a job until a time; return None when another worker has it, or it is done."""
    params = {"id": job_id, "claim": claim, "now": micros(now), "until": micros(until)}
    return find(tx, job_id) if tx.run(_CLAIM, params) else None


def renew(tx: Tx, job_id: str, *, claim: str, until: datetime) -> bool:
    """Extend the lease of a job; return False when another worker has it."""
    return tx.run(_RENEW, {"id": job_id, "claim": claim, "until": micros(until)}) == 1


def finish(tx: Tx, job_id: str, *, claim: str, now: datetime) -> bool:
    """Mark a job as done; return False when the lease was lost, and then nothing may be written with it."""
    return tx.run(_FINISH, {"id": job_id, "claim": claim, "now": micros(now)}) == 1


def give_back(tx: Tx, job_id: str, *, claim: str, state: JobState, not_before: datetime, trouble: str | None) -> bool:
    """Release a job, to be tried again at a time or never."""
    params = {"id": job_id, "claim": claim, "state": state.value, "trouble": trouble}
    return tx.run(_GIVE_BACK, {**params, "not_before": micros(not_before)}) == 1


def rearm(tx: Tx, job_id: str, now: datetime) -> None:
    """Make a failed or waiting job due at once."""
    tx.run(_REARM, {"id": job_id, "now": micros(now)})


def page(tx: Tx, *, state: JobState | None, before: str | None, limit: int) -> list[Job]:
    """Return the newest jobs before an id."""
    return [_from_row(row) for row in tx.rows(_PAGE, {"state": state, "before": before or AFTER_IDS, "limit": limit})]


def _from_row(row: Row) -> Job:
    return Job(
        id=row[0],
        kind=row[1],
        subject=row[2],
        idempotency=row[3],
        state=JobState(row[4]),
        not_before=moment(row[5]),
        claim=row[6],
        lease_until=moment_or_none(row[7]),
        attempts=row[8],
        trouble=row[9],
        created_at=moment(row[10]),
        done_at=moment_or_none(row[11]),
    )
