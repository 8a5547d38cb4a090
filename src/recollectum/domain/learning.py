"""Learning: what an agent learned about working with a person, in one of four categories, with its day."""

from collections.abc import Sequence
from dataclasses import field
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import Kind
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass

#: The four categories, in the order of the file. A learning is a memory of one of these kinds.
CATEGORIES: Sequence[Kind] = (Kind.PREFERENCE, Kind.CORRECTION, Kind.PATTERN, Kind.TOOL_USAGE)
#: A category as callers write it: the member, or its value.
CategoryName: TypeAlias = Kind | Literal["preference", "correction", "pattern", "tool_usage"]
#: The default agent of learnings.
DEFAULT_AGENT = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """One learning in its current form."""

    #: The id of its memory.
    id: str
    text: str
    category: Kind
    #: The day on which it was learned or last repeated (UTC), or the day that a person wrote.
    day: date
    #: The agent it belongs to; None for a learning that all agents of the person share.
    agent: str | None = None
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file after the last sync, without its text."""

    memory_id: str
    category: Kind
    digest: str
    day: date


@dataclass(frozen=True, slots=True)
class LearningConflict:
    """A learning that changed in its file and in the vault since the last sync; both versions are kept."""

    memory_id: str
    #: The line of the file; None when the line is gone.
    line: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningsReport:
    """The result of a sync, in the vault and in the file."""

    path: Path
    #: Taken over from the file into the vault.
    added: int = 0
    edited: int = 0
    forgotten: int = 0
    clashes: tuple[LearningConflict, ...] = ()
    #: Whether the file was written.
    written: bool = False
    #: Why the file was left unchanged, in a sentence; None when it was read.
    problem: str | None = None
    #: The host that keeps the file, when it is another one; nothing was read or written then.
    kept_by: str | None = None
    #: What was done to the texts from the file.
    notice: Notice = NO_NOTICE

    def any(self) -> bool:
        """Return whether anything changed on either side."""
        return bool(self.added or self.edited or self.forgotten or self.written)


def check_category(category: str) -> Kind:
    """Return the kind; raise unless it is one of the four categories."""
    for kind in CATEGORIES:
        if category == kind.value:
            return kind
    raise InvalidInput(f"category {category!r} is unknown; use one of {', '.join(CATEGORIES)}")
