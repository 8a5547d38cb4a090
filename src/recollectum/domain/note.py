"""Note: one Markdown file of a folder that the vault follows."""

from dataclasses import dataclass
from datetime import datetime

#: How far below a folder its notes may lie.
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFolder:
    """A folder whose Markdown files are part of the vault."""

    #: Counts up within the vault; what events call the folder.
    number: int
    #: Absolute, with every link in it followed.
    path: str
    added_at: datetime
    #: How many of its files the vault holds.
    notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A file as it was when it was last read."""

    #: Counts up within the vault; stays when the file is renamed.
    number: int
    folder: str
    #: From the folder, with forward slashes.
    path: str
    #: Of the bytes in the file.
    hash: str
    modified_at: datetime
    size: int
    synced_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a look at the folders changed."""

    added: int = 0
    changed: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    #: Paths that were left out, each with the reason.
    skipped: tuple[tuple[str, str], ...] = ()
    #: False when the time was over before everything was seen to.
    complete: bool = True
