"""Proposal: a change to memories with the texts it is based on; and the run that found it."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.memory import Kind
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust

#: The reader's name when no model was used.
RULES = "rules"


class Act(StrEnum):
    """What a finding would do to memories."""

    ADD = "add"
    #: The same memory with better or more text.
    UPDATE = "update"
    #: Another fact in place of one that is no longer true.
    SUPERSEDE = "supersede"
    #: Two memories with the same content become one.
    MERGE = "merge"
    FORGET = "forget"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of characters in one message's text."""

    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding of a reader, before a decision."""

    act: Act
    content: str
    kind: Kind
    importance: float
    #: The cited texts; never empty for a finding from a conversation.
    spans: tuple[Span, ...]
    #: The memories it changes: none for `add`, one for `update` and `supersede`, two or more for `merge`.
    targets: tuple[str, ...] = ()
    key: str | None = None
    #: One sentence for the person who decides.
    reason: str = ""
    #: The lowest trust of its sources.
    trust: Trust = Trust.OWNER
    #: `rules`, or the identity of the model.
    by: str = RULES
    #: Whether it may be written without approval; else it waits in the inbox.
    certain: bool = False


class Decision(StrEnum):
    """The decision about a proposal."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    #: A memory it is about changed or was removed in the meantime.
    STALE = "stale"


#: A decision as callers write it: the member, or its value.
DecisionName: TypeAlias = Decision | Literal["waiting", "approved", "rejected", "stale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A finding that waits for a person, or what they decided."""

    id: str
    finding: Finding
    decision: Decision
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    #: The memory that it became.
    memory_id: str | None = None
    run_id: str | None = None
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)
