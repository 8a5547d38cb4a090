"""Summarises the older part of long conversations incrementally."""

from collections.abc import Sequence
from dataclasses import replace

from recollectum.context.window import TRIGGER, VERBATIM, to_summarise
from recollectum.domain.access.caller import Scope
from recollectum.domain.context import SHARES, PartKind
from recollectum.domain.message import Message
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, Summary
from recollectum.models.language.port import LanguageModel
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, summaries
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.messages import get_session
from recollectum.vault.service import VaultService

#: Messages folded in at a time: a model reads no more at once, and each step is stored.
STEP = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _NextFold:
    """The messages of the next fold."""

    previous: Summary | None
    messages: Sequence[Message]


class Summaries(VaultService):
    """The summaries of one vault's conversations."""

    @operation(Action.SESSION_READ, Scope.SESSION)
    def find(self, session_id: str) -> Summary | None:
        """Return the summary of a session; None when nothing was summarised yet."""
        return self._find(session_id)

    @operation(Action.SESSION_WRITE, Scope.SESSION, reads=True)
    def update(self, session_id: str, *, model: LanguageModel | None = None) -> Summary | None:
        """Summarise older messages: nothing below about 8,000 tokens, and never the last ten messages.

        It reads only what no summary covers yet. It uses the given model, or the home's; without one it uses rules, and
        the summary says so. When two callers do this at once, one of them stores its summary and both return that one.
        """
        stop = self._runtime.read(lambda tx, _: _fold_position(tx, session_id))
        told = NO_NOTICE
        while stop and (due := self._runtime.read(lambda tx, _: _next_messages(tx, session_id, stop))):
            step = self._fold(session_id, due, model or self._runtime.home.language_model())
            if step is None:
                break
            told += step
        found = self._find(session_id)
        return found and replace(found, notice=told)

    def _find(self, session_id: str) -> Summary | None:
        return self._runtime.read(lambda tx, _: summaries.find(tx, get_session(tx, session_id).id))

    def _fold(self, session_id: str, due: _NextFold, model: LanguageModel | None) -> Notice | None:
        """Make one step, store it and return its notice; None when another caller was faster."""
        # Imported here: only callers that summarise need it.
        from recollectum.distil.summary import summarise  # noqa: PLC0415

        tokens = self._runtime.settings.context.tokens * SHARES[PartKind.SUMMARY] // 100
        before = due.previous.up_to if due.previous else 0
        # No transaction is open while a model runs.
        made = summarise(due.previous.text if due.previous else None, due.messages, model, tokens)

        def change(tx: Tx, reading: ClockReading, text: AdmittedText) -> bool:
            # A message that was removed in the meantime must not come back in a summary.
            there, _ = summaries.said_between(tx, session_id, before, made.up_to)
            if due.previous:
                queue_secret_deletion(tx, due.previous.text)
            return there == len(due.messages) and summaries.save(
                tx, session_id, replace(made, text=text), reading.now, before=before
            )

        with Intake(self._runtime) as intake:
            text = intake.text(made.text)
            stored = self._runtime.write(lambda tx, reading: change(tx, reading, text))
            if not stored:
                intake.discard()
            return intake.notice if stored else None


def _fold_position(tx: Tx, session_id: str) -> int:
    """Return the position up to which a session must be folded now; 0 when nothing is due."""
    session: Session = get_session(tx, session_id)
    previous = summaries.find(tx, session_id)
    covered = previous.up_to if previous else 0
    _, tokens = summaries.said_between(tx, session_id, covered, session.message_count)
    if tokens <= TRIGGER:
        return 0
    # The end of the conversation shows which tool calls must stay together.
    said = messages.latest(tx, session_id, before=None, limit=STEP)
    fold = to_summarise(said, covered_to=covered, verbatim=VERBATIM)
    return fold[-1].position if fold else 0


def _next_messages(tx: Tx, session_id: str, stop: int) -> _NextFold | None:
    """Return the next messages to fold in, up to `stop`."""
    previous = summaries.find(tx, session_id)
    covered = previous.up_to if previous else 0
    said = [one for one in messages.after(tx, session_id, covered, STEP) if one.position <= stop]
    if len(said) == STEP and said[-1].position < stop:
        # A call whose results may follow waits for the next step.
        said = list(to_summarise(said, covered_to=covered, verbatim=0)) or said
    return _NextFold(previous=previous, messages=said) if said else None
