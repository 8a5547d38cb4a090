"""Declares what a reader of foreign files hands over, and the port that finds and reads them."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from recollectum.domain.message import Json, Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignConversation:
    """Begins a conversation, or a list of memories; what follows belongs to it."""

    session: Session
    #: Whose it is in the other program, where that knows several people.
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """A durable text that another program keeps."""

    native_id: str
    text: str
    at: datetime
    #: From 0 to 1.
    importance: float = 0.5
    #: Only for a form whose memories have keys of ours.
    key: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class OmittedPart:
    """Something that cannot be imported: an image, a file, a branch that was abandoned."""

    what: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """A part that could not be read; it affects only itself."""

    place: str
    reason: str


ForeignItem: TypeAlias = ForeignConversation | Message | ForeignMemory | OmittedPart | DamagedPart
#: Called with the number of bytes or rows that were read.
Progress: TypeAlias = Callable[[int], None]


class ForeignSource(Protocol):
    """One file, folder or database of a known form."""

    @property
    def path(self) -> Path:
        """Where it is."""
        ...

    @property
    def name(self) -> str:
        """What it is, in words, such as `Claude Code transcript`."""
        ...

    @property
    def size(self) -> int:
        """How much `items` reports to its progress in all; 0 when that is unknown."""
        ...

    @property
    def moves_to(self) -> Path | None:
        """Where the file is moved after its import, which is then one transaction; None where it stays."""
        ...

    def items(self, progress: Progress) -> Generator[ForeignItem]:
        """Yield everything in it, in order; each call reads it from its beginning."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What was found at some paths."""

    known: tuple[ForeignSource, ...]
    #: Files of no known form inside folders.
    unknown: int = 0
    #: Files that cannot be read, each with the reason.
    unreadable: tuple[tuple[str, str], ...] = ()


class ImportReader(Protocol):
    """Recognises the files of other programs."""

    def find(self, paths: Sequence[Path], mapping: Mapping[str, str] | None) -> Sources:
        """Return what is at the paths; raise for one that is missing or of no known form."""
        ...

    def discover(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Return where programs keep their files below a person's home, or where variables say, if they are there."""
        ...
