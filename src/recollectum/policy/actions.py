"""Names the actions that policy rules decide about, with the permission of each, and checks client names.

A public operation declares its action; several operations share one. Rules, logs and refusals use these names only.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass


class Action(StrEnum):
    """The action of an operation, as rules name it."""

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
    #: What agents keep besides: the history of shells, the state of interfaces, accounts.
    STATE_READ = "state.read"
    STATE_WRITE = "state.write"
    STATE_DELETE = "state.delete"
    EVENT_READ = "event.read"
    UNDO_RUN = "undo.run"
    LIFECYCLE_RUN = "lifecycle.run"
    QUARANTINE_READ = "quarantine.read"
    QUARANTINE_WRITE = "quarantine.write"
    PURGE_RUN = "purge.run"
    RECEIPT_READ = "receipt.read"
    TASK_READ = "task.read"
    TASK_WRITE = "task.write"
    TASK_DELETE = "task.delete"
    INDEX_READ = "index.read"
    INDEX_WRITE = "index.write"
    PERSON_READ = "person.read"
    PERSON_WRITE = "person.write"
    KEY_READ = "key.read"
    KEY_WRITE = "key.write"
    EXTENSION_READ = "extension.read"
    EXTENSION_WRITE = "extension.write"

    @property
    def noun(self) -> str:
        """Return the noun of the action, such as `memory`."""
        return self.value.partition(".")[0]

    @property
    def permission(self) -> Permission:
        """Return the permission that the action needs in a vault."""
        if self in _FOR_ADMINS:
            return Permission.ADMIN
        return Permission.READ if self.value.endswith((".read", ".search")) else Permission.WRITE


_FOR_ADMINS = frozenset(
    {
        Action.FILE_FOLLOW,
        Action.PERSON_READ,
        Action.PERSON_WRITE,
        Action.KEY_READ,
        Action.KEY_WRITE,
        Action.EXTENSION_READ,
        Action.EXTENSION_WRITE,
    }
)


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """The action of an operation for which an argument decides which one it is."""

    argument: str
    by_value: Mapping[str, Action]
    #: For every other value: the most restricted one.
    otherwise: Action

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return every possible action."""
        return tuple(dict.fromkeys((*self.by_value.values(), self.otherwise)))

    def choose(self, arguments: Mapping[str, object]) -> Action:
        """Return the action of a call with these arguments."""
        value = arguments.get(self.argument)
        return self.by_value.get(value, self.otherwise) if isinstance(value, str) else self.otherwise


@dataclass(frozen=True, slots=True)
class ActionWith:
    """A further action that an operation takes when an argument is given."""

    argument: str
    action: Action


_CLIENT = re.compile(r"[a-z][a-z0-9_-]*:[^\x00-\x1f\x7f]{1,200}")
#: Names that only a credential can give.
_PROVEN = ("key:", "person:", "process:")


def check_client(name: str) -> str:
    """Return the name of a client program; raise if it looks like a name that only a credential can give."""
    if not _CLIENT.fullmatch(name) or name.startswith(_PROVEN):
        raise InvalidInput(
            "a client is named by its kind and a name, such as mcp:desktop; key, person and process are taken"
        )
    return name
