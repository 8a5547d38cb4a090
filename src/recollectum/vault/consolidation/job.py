"""Runs one consolidation job under a lease with retries: claims it, asks the model, stores the result."""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from recollectum.domain.errors import ModelError, NotFound, StorageError
from recollectum.domain.models.language_model import Prompt
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.models.language.port import LanguageModel
from recollectum.policy.clock import ClockReading
from recollectum.settings.model import ConsolidationSettings
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions
from recollectum.storage.tables.learning import jobs, runs
from recollectum.storage.tables.learning.jobs import Job, JobState
from recollectum.storage.tables.learning.runs import ConsolidationRun
from recollectum.vault.consolidation.apply import FindingOutcome, admit_findings, apply_findings
from recollectum.vault.consolidation.snapshot import Snapshot, take_snapshot
from recollectum.vault.intake.admitted import AdmittedFinding
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.redaction import redact_text
from recollectum.vault.review.writing import ChangeContext
from recollectum.vault.runtime import VaultRuntime

if TYPE_CHECKING:
    from recollectum.distil.pipeline import Distilled

#: Factor by which the wait grows with each retry.
_BACKOFF_FACTOR = 4
_MAX_BACKOFF = timedelta(days=1)
_MAX_ERROR_LENGTH = 300
_PROCESS_DIED = "the process that worked on it died"


def claim_job(runtime: VaultRuntime, job_id: str) -> Job | None:
    """Claim a job under a lease; None when another worker has it, it is done, or it has no attempts left."""
    rules = runtime.settings.consolidation
    token = runtime.ids("clm")

    def change(tx: Tx, reading: ClockReading) -> Job | None:
        now = tx.time(reading.now)
        until = now + timedelta(seconds=rules.lease_seconds)
        taken = jobs.claim(tx, job_id, claim=token, now=now, until=until)
        if taken is None or taken.attempts <= rules.retries + 1:
            return taken
        # A job that kills its worker every time must not be retried for ever.
        why = taken.trouble or _PROCESS_DIED
        jobs.give_back(tx, job_id, claim=token, state=JobState.FAILED, not_before=now, trouble=why)
        return None

    return runtime.write(change)


def release_failed_job(runtime: VaultRuntime, job: Job, trouble: Exception) -> None:
    """Release a job whose attempt failed: retry it later, or mark it as failed after too many attempts."""
    rules = runtime.settings.consolidation
    words = redact_text(f"{type(trouble).__name__}: {trouble}")[:_MAX_ERROR_LENGTH]
    state = JobState.FAILED if job.attempts > rules.retries else JobState.WAITING

    def change(tx: Tx, reading: ClockReading) -> None:
        later = tx.time(reading.now) + retry_backoff(job.attempts, rules)
        jobs.give_back(tx, job.id, claim=job.claim or "", state=state, not_before=later, trouble=words)

    runtime.write(change)


def retry_backoff(attempts: int, rules: ConsolidationSettings) -> timedelta:
    """Return how long a job waits after a number of attempts."""
    steps = min(max(attempts - 1, 0), 12)
    return min(timedelta(seconds=rules.backoff_seconds * _BACKOFF_FACTOR**steps), _MAX_BACKOFF)


@contextmanager
def renewing_lease(runtime: VaultRuntime, job: Job) -> Generator[None]:
    """Renew the lease of a job while the block runs, however long a model takes."""
    seconds = runtime.settings.consolidation.lease_seconds
    stop = threading.Event()

    def renew(tx: Tx, reading: ClockReading) -> bool:
        until = tx.time(reading.now) + timedelta(seconds=seconds)
        return jobs.renew(tx, job.id, claim=job.claim or "", until=until)

    def keep() -> None:
        while not stop.wait(seconds / 3):
            try:
                if not runtime.write(renew):
                    return
            except StorageError:
                # The lease is still valid; the next renewal may succeed.
                continue

    keeper = threading.Thread(target=keep, name="recollectum-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()


def distil_snapshot(snapshot: Snapshot, model: LanguageModel | None, instructions: str) -> "Distilled":
    """Return the findings of a conversation; raise `ModelError` when the model call failed."""
    # Imported here: a program that does not consolidate does not need it.
    from recollectum.distil.pipeline import distil  # noqa: PLC0415
    from recollectum.distil.screening import ServedTexts  # noqa: PLC0415

    return distil(
        snapshot.conversation,
        snapshot.known,
        model=model,
        instructions=instructions or None,
        barred=snapshot.barred,
        served=ServedTexts(snapshot.forgotten),
        imported=snapshot.foreign,
    )


def list_prompts(snapshot: Snapshot, model: LanguageModel, instructions: str) -> Iterator[Prompt]:
    """Return the prompts that the model would get for a conversation, in order."""
    from recollectum.distil.pipeline import first_prompts  # noqa: PLC0415
    from recollectum.distil.screening import ServedTexts  # noqa: PLC0415 - see above

    return first_prompts(
        snapshot.conversation,
        snapshot.known,
        model=model,
        instructions=instructions or None,
        barred=snapshot.barred,
        served=ServedTexts(snapshot.forgotten),
    )


JOB_KIND = "consolidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationOutcome:
    """The result of consolidating one conversation."""

    session_id: str
    #: None when there was nothing to read or the run wrote nothing.
    run: ConsolidationRun | None = None
    #: Why the attempt failed, if it did; the job is retried.
    trouble: str | None = None
    #: What was done to the texts of the findings.
    notice: Notice = NO_NOTICE


class _ReadingResult(NamedTuple):
    """The findings of a run, admitted for writing."""

    findings: list[AdmittedFinding]
    by: str
    ignored: int


def enqueue_job(tx: Tx, runtime: VaultRuntime, session_id: str, through: int, reading: ClockReading) -> Job:
    """Enqueue a job to consolidate a conversation up to a position, in the transaction that causes it."""
    return jobs.add(
        tx,
        runtime.ids("job"),
        kind=JOB_KIND,
        subject=session_id,
        idempotency=f"{session_id}:{through}",
        not_before=tx.time(reading.now),
        now=reading.now,
    )


def run_job(runtime: VaultRuntime, job_id: str) -> ConsolidationOutcome:
    """Run one job to its end; when the model fails, the conversation stays unchanged."""
    job = claim_job(runtime, job_id)
    if job is None:
        return _lost_job(runtime, job_id)
    snapshot = load_snapshot(runtime, job.subject, _job_position(job))
    if snapshot is None or not snapshot.conversation:
        # Another run has read it already, or it was destroyed.
        runtime.write(lambda tx, reading: jobs.finish(tx, job.id, claim=job.claim or "", now=reading.now))
        return ConsolidationOutcome(session_id=job.subject)
    try:
        with renewing_lease(runtime, job):
            found = distil_snapshot(
                snapshot, runtime.home.language_model(), runtime.settings.consolidation.instructions
            )
    except ModelError as error:
        release_failed_job(runtime, job, error)
        runtime.log.info("consolidation.failed", {"job": job.id, "error": type(error).__name__})
        return ConsolidationOutcome(session_id=job.subject, trouble=str(error))
    with Intake(runtime) as intake:
        admitted, refused = admit_findings(intake, found.findings)
        result = _ReadingResult(admitted, by=str(found.by), ignored=found.ignored + refused)
        done = runtime.write(
            lambda tx, reading: _store_result(ChangeContext(tx, reading, runtime), job, snapshot, result)
        )
        if done.run is None:
            intake.discard()
        else:
            done = replace(done, notice=intake.notice)
    if done.run:
        told = {"added": done.run.added, "updated": done.run.updated, "proposed": done.run.proposed}
        runtime.log.info("consolidation.done", {"job": job.id, "run": done.run.id, **told})
    return done


def load_snapshot(runtime: VaultRuntime, session_id: str, through: int) -> Snapshot | None:
    """Return the snapshot that a run starts from; None when the session no longer exists."""
    owner, most = runtime.gate.owner, runtime.settings.consolidation.known

    def read(tx: Tx, reading: ClockReading) -> Snapshot | None:
        if sessions.find(tx, session_id) is None:
            return None
        return take_snapshot(tx, session_id, through, owner, reading, most_known=most)

    return runtime.read(read)


def _store_result(desk: ChangeContext, job: Job, snapshot: Snapshot, found: _ReadingResult) -> ConsolidationOutcome:
    """Store all findings together with the end of the job; store nothing when the lease or the session is lost."""
    tx, now, session_id = desk.tx, desk.reading.now, job.subject
    if sessions.find(tx, session_id) is None or runs.read_to(tx, session_id) != snapshot.from_position:
        why = "the conversation was read or destroyed in the meantime"
        at_once = tx.time(now)
        jobs.give_back(tx, job.id, claim=job.claim or "", state=JobState.WAITING, not_before=at_once, trouble=why)
        return ConsolidationOutcome(session_id=session_id, trouble=why)
    if not jobs.finish(tx, job.id, claim=job.claim or "", now=now):
        return ConsolidationOutcome(session_id=session_id, trouble="another worker took over the lease")
    run_id = desk.runtime.ids("run")
    fates, effects = apply_findings(desk, snapshot, found.findings, run_id)
    run = ConsolidationRun(
        id=run_id,
        session_id=session_id,
        from_position=snapshot.from_position,
        through_position=snapshot.through,
        by=found.by,
        added=fates[FindingOutcome.ADDED],
        updated=fates[FindingOutcome.UPDATED],
        superseded=fates[FindingOutcome.SUPERSEDED],
        renewed=fates[FindingOutcome.RENEWED],
        proposed=fates[FindingOutcome.PROPOSED],
        ignored=fates[FindingOutcome.IGNORED] + found.ignored,
        at=now,
    )
    runs.add(tx, run, effects)
    return ConsolidationOutcome(session_id=session_id, run=run)


def _lost_job(runtime: VaultRuntime, job_id: str) -> ConsolidationOutcome:
    job = runtime.read(lambda tx, _: jobs.find(tx, job_id))
    if job is None:
        raise NotFound(f"there is no job {job_id!r} in this vault")
    match job.state:
        case JobState.DONE:
            return ConsolidationOutcome(session_id=job.subject)
        case JobState.FAILED:
            return ConsolidationOutcome(session_id=job.subject, trouble=job.trouble or "all its retries failed")
        case _:
            return ConsolidationOutcome(session_id=job.subject, trouble="another worker holds the lease")


def _job_position(job: Job) -> int:
    return int(job.idempotency.rpartition(":")[2])
