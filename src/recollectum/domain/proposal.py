"""Proposal: a change to what is known, with the words it came from; and the run that found it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.memory import Kind
from recollectum.domain.trust import Trust

#: Who found something, when no model did.
RULES = "rules"


class Act(StrEnum):
    """What a finding would do to what is known."""

    ADD = "add"
    #: The same memory in better words, or with more.
    UPDATE = "update"
    #: Another fact in the place of one that no longer holds.
    SUPERSEDE = "supersede"
    #: Two memories that say the same become one.
    MERGE = "merge"
    FORGET = "forget"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters of one message's text."""

    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a reader found, before anybody decided about it."""

    act: Act
    content: str
    kind: Kind
    importance: float
    #: The words it came from; never empty for what was read in a conversation.
    spans: tuple[Span, ...]
    #: The memories it changes: none for `add`, one for `update` and `supersede`, two or more for `merge`.
    targets: tuple[str, ...] = ()
    key: str | None = None
    #: One sentence for the person who decides.
    reason: str = ""
    #: The least of what it came from.
    trust: Trust = Trust.OWNER
    #: `rules`, or the identity of the model.
    by: str = RULES
    #: Whether it may be written without being asked; else it waits in the inbox.
    certain: bool = False


class Decision(StrEnum):
    """What became of a proposal."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    #: What it was about changed or went in the meantime.
    STALE = "stale"


#: A decision as callers write it: the member, or its word.
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
    #: The memory that came of it.
    memory_id: str | None = None
    run_id: str | None = None
