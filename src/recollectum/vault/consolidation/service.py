"""Turns conversations into memories and proposals as durable jobs, and estimates what that costs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import NotFound
from recollectum.domain.event import EventType
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.models.language_model import Estimate, Prompt
from recollectum.domain.page import Page, cut_page
from recollectum.domain.proposal import Finding
from recollectum.domain.session import Session
from recollectum.models.language.port import LanguageModel
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions
from recollectum.storage.tables.learning import jobs, runs
from recollectum.storage.tables.learning.jobs import Job, JobState, JobStateName
from recollectum.storage.tables.learning.runs import ConsolidationRun
from recollectum.storage.tables.trail import events
from recollectum.vault.consolidation.job import (
    JOB_KIND,
    ConsolidationOutcome,
    distil_snapshot,
    enqueue_job,
    list_prompts,
    load_snapshot,
    run_job,
)
from recollectum.vault.consolidation.revert import Reverted, revert_run
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.messages import get_session
from recollectum.vault.review.writing import ChangeContext
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService


def estimate_consolidation(runtime: VaultRuntime, model: LanguageModel, session_ids: Sequence[str]) -> Estimate:
    """Return the highest cost of the first prompts of these conversations; hold one conversation at a time."""
    # Provider clients are slow to import, and here one is imported already.
    from recollectum.models.language.costs import estimate_cost  # noqa: PLC0415
    from recollectum.models.registry.language import prices  # noqa: PLC0415

    settings = runtime.settings.language_model
    asked = (prompt for session_id in session_ids for prompt in _load_prompts(runtime, model, session_id))
    return estimate_cost(asked, prices(settings), max_output_tokens=settings.max_output_tokens)


def _load_prompts(runtime: VaultRuntime, model: LanguageModel, session_id: str) -> Iterator[Prompt]:
    session = runtime.read(lambda tx, _: get_session(tx, session_id))
    snapshot = load_snapshot(runtime, session_id, session.message_count)
    if snapshot is not None and snapshot.conversation:
        yield from list_prompts(snapshot, model, runtime.settings.consolidation.instructions)


def note_job(tx: Tx, session: Session, reading: ClockReading, runtime: VaultRuntime) -> str | None:
    """Enqueue the job of a session, due at once; return its id, or None when nothing is unread."""
    if session.message_count <= runs.read_to(tx, session.id):
        return None
    job = enqueue_job(tx, runtime, session.id, session.message_count, reading)
    jobs.rearm(tx, job.id, tx.time(reading.now))
    return job.id


class Consolidation(VaultService):
    """Turns the conversations of one vault into memories and proposals."""

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE,))
    def run(self, session_id: str) -> ConsolidationOutcome:
        """Consolidate the unread part of one conversation now; a second call reads only what is new."""

        def change(tx: Tx, reading: ClockReading) -> str | None:
            return note_job(tx, get_session(tx, session_id), reading, self._runtime)

        job_id = self._runtime.write(change)
        return run_job(self._runtime, job_id) if job_id else ConsolidationOutcome(session_id=session_id)

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, reads=True)
    def preview(self, session_id: str) -> list[Finding]:
        """Return what consolidating a conversation would find. It asks the model, but writes nothing."""
        session = self._runtime.read(lambda tx, _: get_session(tx, session_id))
        snapshot = load_snapshot(self._runtime, session_id, session.message_count)
        if snapshot is None or not snapshot.conversation:
            return []
        found = distil_snapshot(
            snapshot, self._runtime.home.language_model(), self._runtime.settings.consolidation.instructions
        )
        return list(found.findings)

    @operation(Action.CONSOLIDATION_READ, Scope.USER)
    def estimate(self, session_ids: Sequence[str]) -> Estimate | None:
        """Return the highest cost of consolidating these conversations; None without a model. No model is asked.

        A prompt that must be repeated, because its answer was cut off or quoted nothing, costs more.
        """
        model = self._runtime.home.language_model()
        return estimate_consolidation(self._runtime, model, session_ids) if model else None

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.SESSION_WRITE))
    def reset(self, session_id: str) -> ConsolidationOutcome:
        """End a session so that the next one starts fresh, and consolidate it; if the model fails, a job retries."""

        def change(tx: Tx, reading: ClockReading) -> str | None:
            session = get_session(tx, session_id)
            self._end(tx, session, reading)
            return note_job(tx, session, reading, self._runtime)

        job_id = self._runtime.write(change)
        self._runtime.session_cache.clear()
        return run_job(self._runtime, job_id) if job_id else ConsolidationOutcome(session_id=session_id)

    @operation(Action.CONSOLIDATION_READ, Scope.USER)
    def list_unread(self, *, everything: bool = False) -> list[str]:
        """Return the idle conversations with unread messages, or all with unread messages, longest idle first."""
        return self._runtime.read(lambda tx, reading: [one for one, _ in self._unread(tx, reading, everything)])

    @operation(Action.CONSOLIDATION_RUN, Scope.USER)
    def note_idle(self, *, everything: bool = False) -> int:
        """Enqueue a job for each idle conversation with unread messages, or for all of them; return how many."""

        def change(tx: Tx, reading: ClockReading) -> int:
            found = self._unread(tx, reading, everything)
            for session_id, last in found:
                enqueue_job(tx, self._runtime, session_id, last, reading)
            return len(found)

        return self._runtime.write(change)

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, also=(Action.MEMORY_WRITE,))
    def work(self, *, limit: int = 1000) -> list[ConsolidationOutcome]:
        """Run the jobs that are due, longest waiting first; this includes jobs whose worker died."""
        done: list[ConsolidationOutcome] = []
        for _ in range(check_limit(limit, MAX_PAGE)):
            job = self._runtime.read(lambda tx, reading: jobs.due(tx, JOB_KIND, tx.time(reading.now)))
            if job is None:
                break
            done.append(run_job(self._runtime, job.id))
        return done

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, also=(Action.SESSION_WRITE,))
    def end_idle(self) -> int:
        """End the idle conversations that were read completely, where the settings say so; return how many."""
        rules = self._runtime.settings.consolidation
        if rules.clean_slate == "off" or rules.idle_minutes == 0:
            return 0

        def change(tx: Tx, reading: ClockReading) -> int:
            spent = runs.spent(tx, self._idle_since(reading))
            for session_id in spent:
                self._end(tx, get_session(tx, session_id), reading)
            return len(spent)

        ended = self._runtime.write(change)
        if ended:
            self._runtime.session_cache.clear()
        return ended

    @operation(Action.CONSOLIDATION_READ, Scope.USER)
    def list_jobs(self, *, state: JobStateName | None = None, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return the newest jobs: waiting, claimed, done or failed."""
        size, wanted = check_limit(limit, MAX_PAGE), parse_optional_enum(JobState, state, "state")
        found = self._runtime.read(lambda tx, _: jobs.page(tx, state=wanted, before=cursor, limit=size + 1))
        return cut_page(found, size, lambda one: one.id)

    @operation(Action.CONSOLIDATION_READ, Scope.USER)
    def list_runs(
        self, *, session_id: str | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[ConsolidationRun]:
        """Return the newest consolidation runs of one session or of all."""
        size = check_limit(limit, MAX_PAGE)
        found = self._runtime.read(lambda tx, _: runs.page(tx, session_id=session_id, before=cursor, limit=size + 1))
        return cut_page(found, size, lambda one: one.id)

    @operation(Action.CONSOLIDATION_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.MEMORY_DELETE))
    def revert(self, run_id: str) -> Reverted:
        """Revert the effects of one run on memories; memories that somebody changed since stay as they are."""

        def change(tx: Tx, reading: ClockReading) -> Reverted:
            run = runs.find(tx, run_id)
            if run is None:
                raise NotFound(f"there is no run {run_id!r} in this vault")
            return revert_run(ChangeContext(tx, reading, self._runtime), run)

        return self._runtime.write(change)

    def _unread(self, tx: Tx, reading: ClockReading, everything: bool) -> list[tuple[str, int]]:  # noqa: FBT001
        rules = self._runtime.settings.consolidation
        if everything:
            return runs.unread(tx, until=reading.now, imported=True)
        if rules.idle_minutes == 0:
            return []
        return runs.unread(tx, until=self._idle_since(reading), imported=rules.imported == "on")

    def _end(self, tx: Tx, session: Session, reading: ClockReading) -> None:
        if session.ended_at is not None:
            return
        sessions.describe(tx, replace(session, ended_at=reading.now, updated_at=max(session.updated_at, reading.now)))
        events.add(tx, EventType.ENDED, "session", session.id, at=reading.now, actor=self._runtime.actor)

    def _idle_since(self, reading: ClockReading) -> datetime:
        return reading.now - timedelta(minutes=self._runtime.settings.consolidation.idle_minutes)
