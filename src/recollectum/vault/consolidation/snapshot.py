"""Loads what a consolidation starts from: unread messages, known memories and forgotten spans."""

from collections.abc import Sequence

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Message
from recollectum.domain.proposal import Span
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKind, copied_to
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import is_current
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memory_pages, messages
from recollectum.storage.tables.learning import forgotten_spans, runs
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.files.projects import ids_of_session
from recollectum.vault.messages import get_session

_MAX_MESSAGES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One conversation and the known memories at one moment."""

    session: Session
    #: Messages after this position are read.
    from_position: int
    conversation: tuple[Message, ...]
    known: tuple[Memory, ...]
    #: Texts of forgotten memories.
    barred: tuple[Span, ...]
    #: The same texts where they occur in the part that was read before.
    forgotten: tuple[str, ...]
    #: Whether somebody other than the owner speaks, so that every finding waits for review.
    foreign: bool

    @property
    def through(self) -> int:
        """The last position that is read."""
        return self.conversation[-1].position if self.conversation else self.from_position


def take_snapshot(
    tx: Tx, session_id: str, through: int, owner: Owner | None, reading: ClockReading, *, most_known: int
) -> Snapshot:
    """Return the part of a conversation that no run has read, up to a position."""
    session = get_session(tx, session_id)
    # Messages that a fork copied are read in the original session.
    begin = max(runs.read_to(tx, session_id), copied_to(session))
    unread = [one for one in messages.after(tx, session_id, begin, _MAX_MESSAGES) if one.position <= through]
    aside = quarantines.of_session(tx, session_id)
    spans = forgotten_spans.of_session(tx, session_id)
    # Messages in quarantine are not read.
    spans += [Span(one.id, 0, len(one.text)) for one in unread if one.id in aside]
    return Snapshot(
        session=session,
        from_position=begin,
        conversation=tuple(unread),
        known=tuple(_load_known(tx, session, reading, most_known)),
        barred=tuple(spans),
        forgotten=tuple(_forgotten_texts(tx, spans, {one.id for one in unread})),
        foreign=is_foreign(session, owner),
    )


def is_foreign(session: Session, owner: Owner | None) -> bool:
    """Return whether somebody other than the vault's owner may speak: an import, a program, a group."""
    if session.imported or session.key.kind in (SessionKind.HOOK, SessionKind.CRON):
        return True
    return session.key.kind is SessionKind.GROUP and (owner is None or owner.kind is not OwnerKind.GROUP)


def _load_known(tx: Tx, session: Session, reading: ClockReading, most: int) -> list[Memory]:
    """Return the newest memories that a conversation may change: personal ones, and those of its project."""
    if most == 0:
        return []
    newest = memory_pages.page(tx, State.ACTIVE, reading, limit=most)
    mine = {None, *ids_of_session(tx, session)} if any(one.project for one in newest) else {None}
    return [memory for memory in newest if memory.project in mine and is_current(memory, reading)]


def _forgotten_texts(tx: Tx, spans: Sequence[Span], unread: set[str]) -> list[str]:
    """Return forgotten texts of the part read before: text said twice and forgotten once stays forgotten."""
    said = ((span, messages.find(tx, span.message_id)) for span in spans if span.message_id not in unread)
    return [message.text[span.start : span.end] for span, message in said if message]
