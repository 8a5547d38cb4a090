"""Consolidation: from what was said to what is known, as a durable job that a crash neither loses nor doubles."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.language_model import Estimate
from recollectum.domain.proposal import Finding
from recollectum.domain.session import Session
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import events, jobs, runs, sessions
from recollectum.storage.tables.jobs import Job, JobState
from recollectum.storage.tables.runs import ConsolidationRun
from recollectum.vault.consolidation_pricing import priced
from recollectum.vault.consolidation_reverting import Reverted, revert
from recollectum.vault.consolidation_thinking import think
from recollectum.vault.consolidation_working import KIND, Outcome, load, note_job, work
from recollectum.vault.draft import MAX_PAGE, check_limit
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.review_writing import Desk
from recollectum.vault.transcript import existing

_READ = operation(Permission.READ, Scope.USER)
_WRITE = operation(Permission.WRITE, Scope.USER)
_CHANGE = operation(Permission.WRITE, Scope.USER, reads=True)


class Consolidation:
    """How the conversations of one vault become memories and proposals."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @_CHANGE
    def run(self, session_id: str) -> Outcome:
        """Read one conversation now, as far as nobody has; asked again, it reads only what is new."""

        def change(tx: Tx, reading: Reading) -> str | None:
            return self._note(tx, existing(tx, session_id), reading)

        job_id = self._footing.write(change)
        return work(self._footing, job_id) if job_id else Outcome(session_id=session_id)

    @_CHANGE
    def preview(self, session_id: str) -> list[Finding]:
        """What reading one conversation would find. Nothing is written; a model is asked all the same."""
        session = self._footing.read(lambda tx, _: existing(tx, session_id))
        snapshot = load(self._footing, session_id, session.message_count)
        if snapshot is None or not snapshot.conversation:
            return []
        found = think(snapshot, self._footing.language_model(), self._footing.settings.consolidation.instructions)
        return list(found.findings)

    @_READ
    def estimate(self, session_ids: Sequence[str]) -> Estimate | None:
        """What reading these conversations would cost at most; None without a model. Nothing is asked or written.

        A question that has to be asked again, because its answer was cut off or quoted nothing, costs more.
        """
        model = self._footing.language_model()
        return priced(self._footing, model, session_ids) if model else None

    @_CHANGE
    def reset(self, session_id: str) -> Outcome:
        """End a session, so that the next one begins anew, and keep what it said; a model that fails is asked later."""

        def change(tx: Tx, reading: Reading) -> str | None:
            session = existing(tx, session_id)
            self._end(tx, session, reading)
            return self._note(tx, session, reading)

        job_id = self._footing.write(change)
        self._footing.session_lists.clear()
        return work(self._footing, job_id) if job_id else Outcome(session_id=session_id)

    @_READ
    def unread(self, *, everything: bool = False) -> list[str]:
        """The conversations that rest and have unread words, or all that have any, longest resting first."""
        return self._footing.read(lambda tx, reading: [one for one, _ in self._unread(tx, reading, everything)])

    @_WRITE
    def note_idle(self, *, everything: bool = False) -> int:
        """Note a job for each conversation that rests and has unread words, or for each that has any; how many."""

        def change(tx: Tx, reading: Reading) -> int:
            found = self._unread(tx, reading, everything)
            for session_id, last in found:
                note_job(tx, self._footing, session_id, last, reading)
            return len(found)

        return self._footing.write(change)

    @_WRITE
    def work(self, *, limit: int = 1000) -> list[Outcome]:
        """Work on the jobs that are due, longest first; also on those whose worker died."""
        done: list[Outcome] = []
        for _ in range(check_limit(limit, MAX_PAGE)):
            job = self._footing.read(lambda tx, reading: jobs.due(tx, KIND, reading.now))
            if job is None:
                break
            done.append(work(self._footing, job.id))
        return done

    @_WRITE
    def end_idle(self) -> int:
        """End the conversations that rest and were read to their end, where the settings want it; how many."""
        rules = self._footing.settings.consolidation
        if rules.clean_slate == "off" or rules.idle_minutes == 0:
            return 0

        def change(tx: Tx, reading: Reading) -> int:
            spent = runs.spent(tx, self._idle_since(reading))
            for session_id in spent:
                self._end(tx, existing(tx, session_id), reading)
            return len(spent)

        ended = self._footing.write(change)
        if ended:
            self._footing.session_lists.clear()
        return ended

    @_READ
    def jobs(self, *, state: str | None = None, before: str | None = None, limit: int = 50) -> list[Job]:
        """The newest jobs before an id: waiting, claimed, done or failed."""
        size, wanted = check_limit(limit, MAX_PAGE), None if state is None else _job_state(state)
        return self._footing.read(lambda tx, _: jobs.page(tx, state=wanted, before=before, limit=size))

    @_READ
    def runs(
        self, *, session_id: str | None = None, before: str | None = None, limit: int = 50
    ) -> list[ConsolidationRun]:
        """The newest readings before an id, of one session or of all."""
        size = check_limit(limit, MAX_PAGE)
        return self._footing.read(lambda tx, _: runs.page(tx, session_id=session_id, before=before, limit=size))

    @_CHANGE
    def revert(self, run_id: str) -> Reverted:
        """Take back what one reading did to memories; what somebody changed since is left as it is."""

        def change(tx: Tx, reading: Reading) -> Reverted:
            run = runs.find(tx, run_id)
            if run is None:
                raise NotFound(f"there is no run {run_id!r} in this vault")
            return revert(Desk(tx, reading, self._footing), run)

        return self._footing.write(change)

    def _unread(self, tx: Tx, reading: Reading, everything: bool) -> list[tuple[str, int]]:  # noqa: FBT001
        rules = self._footing.settings.consolidation
        if everything:
            return runs.unread(tx, until=reading.now, imported=True)
        if rules.idle_minutes == 0:
            return []
        return runs.unread(tx, until=self._idle_since(reading), imported=rules.imported == "on")

    def _note(self, tx: Tx, session: Session, reading: Reading) -> str | None:
        """The job of a session, ready to be tried at once; None when there is nothing unread."""
        if session.message_count <= runs.read_to(tx, session.id):
            return None
        job = note_job(tx, self._footing, session.id, session.message_count, reading)
        jobs.rearm(tx, job.id, reading.now)
        return job.id

    def _end(self, tx: Tx, session: Session, reading: Reading) -> None:
        if session.ended_at is not None:
            return
        sessions.describe(tx, replace(session, ended_at=reading.now, updated_at=max(session.updated_at, reading.now)))
        events.add(tx, EventType.ENDED, "session", session.id, at=reading.now, actor=self._footing.actor)

    def _idle_since(self, reading: Reading) -> datetime:
        return reading.now - timedelta(minutes=self._footing.settings.consolidation.idle_minutes)


def _job_state(state: str) -> JobState:
    try:
        return JobState(state)
    except ValueError:
        raise InvalidInput(f"jobs have no state {state!r}; use one of {', '.join(JobState)}") from None
