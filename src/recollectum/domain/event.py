"""Event: one line of the audit trail. It names things by id and never contains their content."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.memory import State
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass


class EventType(StrEnum):
    """What happened."""

    CREATED = "created"
    DEDUPLICATED = "deduplicated"
    EDITED = "edited"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RESTORED = "restored"
    DELETED = "deleted"
    DELETE_DUE = "delete_due"
    PURGED = "purged"
    OPENED = "opened"
    ENDED = "ended"
    IMPORTED = "imported"
    PRUNED = "pruned"
    CLOCK_ACCEPTED = "clock_accepted"


#: A type of event as callers write it: the member, or its value.
EventTypeName: TypeAlias = (
    EventType
    | Literal[
        "created",
        "deduplicated",
        "edited",
        "superseded",
        "archived",
        "restored",
        "deleted",
        "delete_due",
        "purged",
        "opened",
        "ended",
        "imported",
        "pruned",
        "clock_accepted",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened to one memory or session."""

    #: Counts up within the vault; it is the id and gives the order.
    number: int
    at: datetime
    type: EventType
    #: `memory`, `session` or `vault`.
    subject: str
    subject_id: str
    #: Who did it: a process, a key, `lifecycle` or `refresh`.
    actor: str
    #: The memory's state after the event.
    state: State | None = None
    payload: Mapping[str, Json]
