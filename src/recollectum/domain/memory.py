"""Memory: something durable, its versions, its citations, the five states of its life and the steps between them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.errors import InvalidInput
from recollectum.domain.trust import Trust

MAX_CONTENT = 1_000_000
MAX_KEY = 64
RESERVED_PREFIXES = ("system_", "internal_")
_KEY = re.compile(r"[a-z][a-z0-9_]*")


class State(StrEnum):
    """Where a memory is in its life."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SOFT_DELETED = "soft_deleted"
    HARD_DELETE_PENDING = "hard_delete_pending"
    PURGED = "purged"


#: A state as callers write it: the member, or its word.
StateName: TypeAlias = State | Literal["active", "archived", "soft_deleted", "hard_delete_pending", "purged"]


#: The only steps there are. Everything that moves a memory asks this table.
STEPS: Mapping[State, frozenset[State]] = {
    State.ACTIVE: frozenset({State.ARCHIVED, State.SOFT_DELETED}),
    State.ARCHIVED: frozenset({State.ACTIVE, State.SOFT_DELETED}),
    State.SOFT_DELETED: frozenset({State.ACTIVE, State.HARD_DELETE_PENDING}),
    State.HARD_DELETE_PENDING: frozenset({State.PURGED}),
    State.PURGED: frozenset(),
}


class Kind(StrEnum):
    """What sort of thing is remembered."""

    FACT = "fact"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    PATTERN = "pattern"
    TOOL_USAGE = "tool_usage"
    PROJECT = "project"
    TASK = "task"


#: A kind as callers write it: the member, or its word.
KindName: TypeAlias = Kind | Literal["fact", "preference", "correction", "pattern", "tool_usage", "project", "task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing that is remembered, as it stands now."""

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    key: str | None = None
    kind: Kind = Kind.FACT
    #: From 0 to 1.
    importance: float = 0.5
    trust: Trust = Trust.OWNER
    #: Who wrote it down: the process or the key that called.
    author: str = ""
    #: The agent it was learned through, when there was one.
    agent: str | None = None
    #: The message it came from.
    message_id: str | None = None
    version: int = 1
    state: State = State.ACTIVE
    #: From when to when it is true in the world, as far as anyone said.
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    #: The five times that drive its life.
    archive_at: datetime | None = None
    retention_expires_at: datetime | None = None
    expires_at: datetime | None = None
    deleted_at: datetime | None = None
    hard_delete_at: datetime | None = None


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
    #: None for the version that stands now.
    replaced_at: datetime | None
    author: str


class SaveOutcome(StrEnum):
    """What saving a memory came to."""

    CREATED = "created"
    #: It was known already: its life begins anew.
    RENEWED = "renewed"
    #: Its key held something else, which is kept as a version.
    CHANGED = "changed"
    #: The caller may write and not read, so it is not told what was there before.
    SAVED = "saved"


@dataclass(frozen=True, slots=True)
class SaveResult:
    """A memory as it was saved, and what saving it came to."""

    memory: Memory
    outcome: SaveOutcome

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id


def check_key(key: str) -> str:
    """A key that follows the grammar, or a sentence that says which rule it breaks."""
    if len(key) > MAX_KEY:
        raise InvalidInput(f"key of {len(key)} characters is too long; use at most {MAX_KEY}")
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"key {key!r} is not allowed; begin with a-z, then use only a-z, 0-9 and _")
    if key.startswith(RESERVED_PREFIXES):
        raise InvalidInput(f"key {key!r} begins with a reserved word; avoid {' and '.join(RESERVED_PREFIXES)}")
    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Characters of one message's text, and where that message stands."""

    session_id: str
    message_id: str
    #: Of the message in its session, from 1.
    position: int
    start: int
    end: int
    #: Whether these very words were cited; else no more is known than the message, and the characters are all of it.
    exact: bool
