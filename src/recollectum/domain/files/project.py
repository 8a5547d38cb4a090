"""Project: a folder that conversations and memories belong to, by the SHA-256 of its root, with a readable name."""

import re
import unicodedata
from collections.abc import Collection
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass

MAX_NAME = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_ID = re.compile(r"[0-9a-f]{64}")
_OTHER = re.compile(r"[^a-z0-9]+")
#: The name of a folder that has no letter or digit in it.
_UNNAMED = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRoot:
    """One place where a project is or was."""

    #: SHA-256 of the resolved root.
    id: str
    root: str
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project of a vault."""

    #: The id of its first root; what is saved with the project has this id.
    id: str
    #: Unique in the vault; None after the project was forgotten.
    name: str | None
    #: Where it is now.
    root: str
    added_at: datetime
    #: Every root that it has or had, oldest first.
    roots: tuple[ProjectRoot, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its roots, its own first."""
        return (self.id, *(one.id for one in self.roots if one.id != self.id))

    @property
    def shown(self) -> str:
        """What a person calls it: its name, or the beginning of its id."""
        return self.name or self.id[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCounts:
    """How much of a vault belongs to one project."""

    #: Memories that are served or archived.
    memories: int = 0
    sessions: int = 0
    messages: int = 0
    checkpoints: int = 0
    #: When something of it was last saved or said; None when there is nothing.
    latest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProject:
    """A project with how much belongs to it."""

    project: Project
    counts: ProjectCounts


@dataclass(frozen=True, slots=True)
class ProjectScope:
    """The project that a question is asked from, or none, and what belongs to other projects."""

    #: The root ids of the project; empty outside every project.
    ids: tuple[str, ...] = ()
    #: Its sessions.
    sessions: frozenset[str] = frozenset()
    #: Sessions of other projects.
    elsewhere: frozenset[str] = frozenset()


def is_project_id(text: str) -> bool:
    """Return whether a text is written as the id of a project."""
    return _ID.fullmatch(text) is not None


def is_project_name(text: str) -> bool:
    """Return whether a text is written as a name; everything else is a path or an id."""
    return _NAME.fullmatch(text) is not None and not is_project_id(text)


def check_project_name(name: str) -> str:
    """Return the name; raise with the broken rule when it is invalid."""
    if len(name) > MAX_NAME:
        raise InvalidInput(f"a project name of {len(name)} characters is too long; use at most {MAX_NAME}")
    if not is_project_name(name):
        raise InvalidInput(
            f"project name {name!r} is not allowed; use a-z, 0-9 and -, and begin with a letter or digit"
        )
    return name


def name_for(folder: str, taken: Collection[str]) -> str:
    """Return a free name for a folder: its own in small letters, with a number if another project has that."""
    plain = unicodedata.normalize("NFKD", folder).encode("ascii", "ignore").decode().lower()
    slug = _OTHER.sub("-", plain).strip("-")[: MAX_NAME - 8].rstrip("-") or _UNNAMED
    if is_project_id(slug):
        slug = _UNNAMED
    found, number = slug, 1
    while found in taken:
        number += 1
        found = f"{slug}-{number}"
    return found
