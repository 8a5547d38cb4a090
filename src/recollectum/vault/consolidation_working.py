"""One job of consolidation: claim, load, think, and store everything in one transaction that still owns the claim."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollectum.domain.errors import ModelError, NotFound
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import jobs, runs, sessions
from recollectum.storage.tables.jobs import Job, JobState
from recollectum.storage.tables.runs import ConsolidationRun
from recollectum.vault.consolidation_applying import Fate, apply
from recollectum.vault.consolidation_snapshot import Snapshot, take
from recollectum.vault.consolidation_thinking import think
from recollectum.vault.footing import Footing
from recollectum.vault.jobs import claim, give_back, renewed
from recollectum.vault.review_writing import Desk

if TYPE_CHECKING:
    from recollectum.distil.reading import Distilled

KIND = "consolidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of consolidating one conversation."""

    session_id: str
    #: None when there was nothing to read, or nothing came of it.
    run: ConsolidationRun | None = None
    #: Why nothing came of it, if it failed; the job is tried again.
    trouble: str | None = None


def note_job(tx: Tx, footing: Footing, session_id: str, through: int, reading: Reading) -> Job:
    """Note, in the transaction that causes it, that a conversation is to be read up to a position."""
    return jobs.add(
        tx,
        footing.ids("job"),
        kind=KIND,
        subject=session_id,
        idempotency=f"{session_id}:{through}",
        not_before=reading.now,
        now=reading.now,
    )


def work(footing: Footing, job_id: str) -> Outcome:
    """Work on one job, whatever it takes; a failure of the model leaves the conversation as it was."""
    job = claim(footing, job_id)
    if job is None:
        return _not_ours(footing, job_id)
    snapshot = load(footing, job.subject, _through(job))
    if snapshot is None or not snapshot.conversation:
        # Read already by another run, or destroyed.
        footing.write(lambda tx, reading: jobs.finish(tx, job.id, claim=job.claim or "", now=reading.now))
        return Outcome(session_id=job.subject)
    try:
        with renewed(footing, job):
            found = think(snapshot, footing.language_model(), footing.settings.consolidation.instructions)
    except ModelError as error:
        give_back(footing, job, error)
        footing.log.info("consolidation.failed", {"job": job.id, "error": type(error).__name__})
        return Outcome(session_id=job.subject, trouble=str(error))
    done = footing.write(lambda tx, reading: _store(Desk(tx, reading, footing), job, snapshot, found))
    if done.run:
        told = {"added": done.run.added, "updated": done.run.updated, "proposed": done.run.proposed}
        footing.log.info("consolidation.done", {"job": job.id, "run": done.run.id, **told})
    return done


def load(footing: Footing, session_id: str, through: int) -> Snapshot | None:
    """What a reading begins from; None when there is no such session any more."""
    owner, most = footing.gate.owner, footing.settings.consolidation.known

    def read(tx: Tx, reading: Reading) -> Snapshot | None:
        if sessions.find(tx, session_id) is None:
            return None
        return take(tx, session_id, through, owner, reading, most_known=most)

    return footing.read(read)


def _store(desk: Desk, job: Job, snapshot: Snapshot, found: "Distilled") -> Outcome:
    """Everything a reading found, with the end of its job; or nothing, when the job or the words are not ours."""
    tx, now, session_id = desk.tx, desk.reading.now, job.subject
    if sessions.find(tx, session_id) is None or runs.read_to(tx, session_id) != snapshot.from_position:
        why = "the conversation was read or destroyed in the meantime"
        jobs.give_back(tx, job.id, claim=job.claim or "", state=JobState.WAITING, not_before=now, trouble=why)
        return Outcome(session_id=session_id, trouble=why)
    if not jobs.finish(tx, job.id, claim=job.claim or "", now=now):
        return Outcome(session_id=session_id, trouble="another worker has taken it over")
    run_id = desk.footing.ids("run")
    fates, effects = apply(desk, snapshot, found.findings, run_id)
    run = ConsolidationRun(
        id=run_id,
        session_id=session_id,
        from_position=snapshot.from_position,
        through_position=snapshot.through,
        by=str(found.by),
        added=fates[Fate.ADDED],
        updated=fates[Fate.UPDATED],
        superseded=fates[Fate.SUPERSEDED],
        renewed=fates[Fate.RENEWED],
        proposed=fates[Fate.PROPOSED],
        ignored=fates[Fate.IGNORED] + found.ignored,
        at=now,
    )
    runs.add(tx, run, effects)
    return Outcome(session_id=session_id, run=run)


def _not_ours(footing: Footing, job_id: str) -> Outcome:
    job = footing.read(lambda tx, _: jobs.find(tx, job_id))
    if job is None:
        raise NotFound(f"there is no job {job_id!r} in this vault")
    match job.state:
        case JobState.DONE:
            return Outcome(session_id=job.subject)
        case JobState.FAILED:
            return Outcome(session_id=job.subject, trouble=job.trouble or "it was tried too often")
        case _:
            return Outcome(session_id=job.subject, trouble="another worker is at it")


def _through(job: Job) -> int:
    return int(job.idempotency.rpartition(":")[2])
