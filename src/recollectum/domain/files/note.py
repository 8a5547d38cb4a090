"""Note: one Markdown file of a folder that the vault follows."""

from datetime import datetime

from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass

#: The greatest depth of notes below a folder.
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFolder:
    """A folder whose Markdown files are part of the vault."""

    #: Counts up within the vault; names the folder in events.
    number: int
    #: Absolute, with all links resolved.
    path: str
    added_at: datetime
    #: How many of its files the vault holds.
    notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A file as it was when it was last read."""

    #: Counts up within the vault; stays the same when the file is renamed.
    number: int
    folder: str
    #: Relative to the folder, with forward slashes.
    path: str
    #: Digest of the file's bytes.
    hash: str
    modified_at: datetime
    size: int
    synced_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of a sync of the folders."""

    added: int = 0
    changed: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    #: Paths that were left out, each with the reason.
    skipped: tuple[tuple[str, str], ...] = ()
    #: False when the deadline passed before everything was done.
    complete: bool = True
    #: The host that keeps the files, when it is another one; nothing was read then.
    kept_by: str | None = None
    #: What was done to the texts that were read.
    notice: Notice = NO_NOTICE
