"""Jobs: work noted in the transaction that causes it, claimed with a lease, tried again, and done once."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from recollectum.domain.errors import StorageError
from recollectum.policy.clock import Reading
from recollectum.settings.model import ConsolidationSettings
from recollectum.storage.port import Tx
from recollectum.storage.tables import jobs
from recollectum.storage.tables.jobs import Job, JobState
from recollectum.vault.footing import Footing

#: Each retry waits so many times as long as the one before it.
_STEEPER = 4
_LONGEST_WAIT = timedelta(days=1)
_LONGEST_TROUBLE = 300
_DIED = "the process that worked on it ended without a word"


def claim(footing: Footing, job_id: str) -> Job | None:
    """Take a job for oneself; None when somebody else works on it, it is done, or it was tried too often."""
    rules = footing.settings.consolidation
    token = footing.ids("clm")

    def change(tx: Tx, reading: Reading) -> Job | None:
        until = reading.now + timedelta(seconds=rules.lease_seconds)
        taken = jobs.claim(tx, job_id, claim=token, now=reading.now, until=until)
        if taken is None or taken.attempts <= rules.retries + 1:
            return taken
        # Work that ends its worker every time would end one for ever.
        why = taken.trouble or _DIED
        jobs.give_back(tx, job_id, claim=token, state=JobState.FAILED, not_before=reading.now, trouble=why)
        return None

    return footing.write(change)


def give_back(footing: Footing, job: Job, trouble: Exception) -> None:
    """Let go of a job whose attempt failed: it is tried again later, or waits for a person after too many."""
    rules = footing.settings.consolidation
    words = f"{type(trouble).__name__}: {trouble}"[:_LONGEST_TROUBLE]
    state = JobState.FAILED if job.attempts > rules.retries else JobState.WAITING

    def change(tx: Tx, reading: Reading) -> None:
        later = reading.now + wait_before(job.attempts, rules)
        jobs.give_back(tx, job.id, claim=job.claim or "", state=state, not_before=later, trouble=words)

    footing.write(change)


def wait_before(attempts: int, rules: ConsolidationSettings) -> timedelta:
    """How long a job rests after so many attempts."""
    steps = min(max(attempts - 1, 0), 12)
    return min(timedelta(seconds=rules.backoff_seconds * _STEEPER**steps), _LONGEST_WAIT)


@contextmanager
def renewed(footing: Footing, job: Job) -> Generator[None]:
    """Keep a job one's own for as long as the block runs, however long a model takes."""
    seconds = footing.settings.consolidation.lease_seconds
    stop = threading.Event()

    def renew(tx: Tx, reading: Reading) -> bool:
        until = reading.now + timedelta(seconds=seconds)
        return jobs.renew(tx, job.id, claim=job.claim or "", until=until)

    def keep() -> None:
        while not stop.wait(seconds / 3):
            try:
                if not footing.write(renew):
                    return
            except StorageError:
                # The lease runs on; a vault that takes no writes now may take the next one.
                continue

    keeper = threading.Thread(target=keep, name="recollectum-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()
