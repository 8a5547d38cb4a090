"""Memory: a saved fact, its versions, its citations, the five states of its life cycle and the steps between them."""

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.errors import InvalidInput, StepRefused
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust

MAX_CONTENT = 1_000_000
MAX_KEY = 64
RESERVED_PREFIXES = ("system_", "internal_")
_KEY = re.compile(r"[a-z][a-z0-9_]*")


class State(StrEnum):
    """The state of a memory in its life cycle."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SOFT_DELETED = "soft_deleted"
    HARD_DELETE_PENDING = "hard_delete_pending"
    PURGED = "purged"


#: A state as callers write it: the member, or its value.
StateName: TypeAlias = State | Literal["active", "archived", "soft_deleted", "hard_delete_pending", "purged"]


#: The only allowed steps. Everything that moves a memory uses this table.
STEPS: Mapping[State, frozenset[State]] = {
    State.ACTIVE: frozenset({State.ARCHIVED, State.SOFT_DELETED}),
    State.ARCHIVED: frozenset({State.ACTIVE, State.SOFT_DELETED}),
    State.SOFT_DELETED: frozenset({State.ACTIVE, State.HARD_DELETE_PENDING}),
    State.HARD_DELETE_PENDING: frozenset({State.PURGED}),
    State.PURGED: frozenset(),
}


def parse_listable_state(state: str) -> State:
    """Return the state; raise when its memories cannot be listed, with the three that can."""
    if state in (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED):
        return State(state)
    raise StepRefused(f"memories cannot be listed by state {state!r}; use active, archived or soft_deleted")


class Kind(StrEnum):
    """The kind of a memory."""

    FACT = "fact"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    PATTERN = "pattern"
    TOOL_USAGE = "tool_usage"
    PROJECT = "project"
    TASK = "task"


#: A kind as callers write it: the member, or its value.
KindName: TypeAlias = Kind | Literal["fact", "preference", "correction", "pattern", "tool_usage", "project", "task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One saved fact in its current form."""

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    key: str | None = None
    kind: Kind = Kind.FACT
    #: From 0 to 1.
    importance: float = 0.5
    trust: Trust = Trust.OWNER
    #: Who wrote it: the calling process or key.
    author: str = ""
    #: The agent that saved it, if any.
    agent: str | None = None
    #: The message it came from.
    message_id: str | None = None
    #: The id of the project that it is limited to; None for a personal one, which applies everywhere.
    project: str | None = None
    version: int = 1
    state: State = State.ACTIVE
    #: The period in which it is true in the world, if known.
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    #: The five times that drive its life cycle.
    archive_at: datetime | None = None
    retention_expires_at: datetime | None = None
    expires_at: datetime | None = None
    deleted_at: datetime | None = None
    hard_delete_at: datetime | None = None
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a memory said from one time until it was changed."""

    memory_id: str
    version: int
    content: str
    key: str | None
    kind: Kind
    importance: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    #: None for the current version.
    replaced_at: datetime | None
    author: str


class SaveOutcome(StrEnum):
    """The outcome of saving a memory."""

    CREATED = "created"
    #: A duplicate: its deadlines start anew.
    RENEWED = "renewed"
    #: Its key held another text, which is stored as a version.
    CHANGED = "changed"
    #: The caller may write but not read, so it is not told what was there before.
    SAVED = "saved"


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The saved memory, and the outcome."""

    memory: Memory
    outcome: SaveOutcome
    #: What was done to the text besides.
    notice: Notice = NO_NOTICE

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id


def check_key(key: str) -> str:
    """Return the key; raise with the broken rule when it is invalid."""
    if len(key) > MAX_KEY:
        raise InvalidInput(f"key of {len(key)} characters is too long; use at most {MAX_KEY}")
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"key {key!r} is not allowed; begin with a-z, then use only a-z, 0-9 and _")
    if key.startswith(RESERVED_PREFIXES):
        raise InvalidInput(f"key {key!r} begins with a reserved word; avoid {' and '.join(RESERVED_PREFIXES)}")
    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A range of characters in one message's text, and the position of that message."""

    session_id: str
    message_id: str
    #: Position of the message in its session, from 1.
    position: int
    start: int
    end: int
    #: Whether these exact words were cited; else only the message is known, and the range is its whole text.
    exact: bool
