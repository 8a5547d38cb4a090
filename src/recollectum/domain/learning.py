"""Learning: what an agent found out about working with a person, in one of four categories, with its day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import Kind

#: The four categories, in the order of the file. A learning is a memory of one of these kinds.
CATEGORIES: Sequence[Kind] = (Kind.PREFERENCE, Kind.CORRECTION, Kind.PATTERN, Kind.TOOL_USAGE)
#: A category as callers write it: the member, or its word.
CategoryName: TypeAlias = Kind | Literal["preference", "correction", "pattern", "tool_usage"]
#: Whose learnings these are when nobody says.
DEFAULT_AGENT = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """One thing that was learned, as it stands now."""

    #: The id of the memory that it is.
    id: str
    text: str
    category: Kind
    #: The day on which it was learned or last said again (UTC), or the one a person wrote before it.
    day: date
    #: The agent it belongs to; None for one that all agents of the person share.
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stood in a file after the last sync, without its text."""

    memory_id: str
    category: Kind
    digest: str
    day: date


@dataclass(frozen=True, slots=True)
class LearningConflict:
    """A learning that was changed in its file and in the vault since the last sync; both versions are kept."""

    memory_id: str
    #: The line of the file as it was read; None where the line is not there any more.
    line: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningsReport:
    """What a sync did, in the vault and in the file."""

    path: Path
    #: Taken over from the file into the vault.
    added: int = 0
    edited: int = 0
    forgotten: int = 0
    clashes: tuple[LearningConflict, ...] = ()
    #: Whether the file was written.
    written: bool = False
    #: Why the file was left as it is, in a sentence; None when it was read.
    problem: str | None = None

    def any(self) -> bool:
        """Whether anything changed on either side."""
        return bool(self.added or self.edited or self.forgotten or self.written)


def check_category(category: str) -> Kind:
    """One of the four categories."""
    for kind in CATEGORIES:
        if category == kind.value:
            return kind
    raise InvalidInput(f"category {category!r} is unknown; use one of {', '.join(CATEGORIES)}")
