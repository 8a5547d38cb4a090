"""Names the actions that policy rules decide about, with the permission of each, and checks client names.

A public operation declares its action; several operations share one. Rules, logs and refusals know no other names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import InvalidInput


class Action(StrEnum):
    """What an operation does, as rules call it."""

    MEMORY_READ = "memory.read"
    MEMORY_SEARCH = "memory.search"
    MEMORY_WRITE = "memory.write"
    MEMORY_DELETE = "memory.delete"
    SESSION_READ = "session.read"
    SESSION_WRITE = "session.write"
    SESSION_DELETE = "session.delete"
    NOTE_READ = "note.read"
    NOTE_WRITE = "note.write"
    TRANSCRIPT_READ = "transcript.read"
    TRANSCRIPT_WRITE = "transcript.write"
    #: Have a file or folder of this machine read with the rights of the process.
    FILE_FOLLOW = "file.follow"
    CONSOLIDATION_READ = "consolidation.read"
    CONSOLIDATION_RUN = "consolidation.run"
    REVIEW_READ = "review.read"
    REVIEW_PROPOSE = "review.propose"
    REVIEW_DECIDE = "review.decide"
    EVENT_READ = "event.read"
    UNDO_RUN = "undo.run"
    LIFECYCLE_RUN = "lifecycle.run"
    QUARANTINE_READ = "quarantine.read"
    QUARANTINE_WRITE = "quarantine.write"
    PURGE_RUN = "purge.run"
    RECEIPT_READ = "receipt.read"
    INDEX_READ = "index.read"
    INDEX_WRITE = "index.write"
    PERSON_READ = "person.read"
    PERSON_WRITE = "person.write"
    KEY_READ = "key.read"
    KEY_WRITE = "key.write"

    @property
    def noun(self) -> str:
        """What the action is about, such as `memory`."""
        return self.value.partition(".")[0]

    @property
    def permission(self) -> Permission:
        """What a caller needs for it in a vault."""
        if self in _FOR_ADMINS:
            return Permission.ADMIN
        return Permission.READ if self.value.endswith((".read", ".search")) else Permission.WRITE


_FOR_ADMINS = frozenset(
    {Action.FILE_FOLLOW, Action.PERSON_READ, Action.PERSON_WRITE, Action.KEY_READ, Action.KEY_WRITE}
)


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """The action of an operation where an argument decides which one it is."""

    argument: str
    by_value: Mapping[str, Action]
    #: For every other value: the one that asks for the most care.
    otherwise: Action

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action it may be."""
        return tuple(dict.fromkeys((*self.by_value.values(), self.otherwise)))

    def choose(self, arguments: Mapping[str, object]) -> Action:
        """The action of a call with these arguments."""
        value = arguments.get(self.argument)
        return self.by_value.get(value, self.otherwise) if isinstance(value, str) else self.otherwise


@dataclass(frozen=True, slots=True)
class ActionWith:
    """An action that an operation takes on the way when an argument is given."""

    argument: str
    action: Action


_CLIENT = re.compile(r"[a-z][a-z0-9_-]*:[^\x00-\x1f\x7f]{1,200}")
#: What a credential alone can say.
_PROVEN = ("key:", "person:", "process:")


def check_client(name: str) -> str:
    """The name of a program that asks, or a sentence about what it may not look like."""
    if not _CLIENT.fullmatch(name) or name.startswith(_PROVEN):
        raise InvalidInput(
            "a client is named by its kind and a name, such as mcp:desktop; key, person and process are taken"
        )
    return name
