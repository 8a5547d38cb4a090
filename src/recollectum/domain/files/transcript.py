"""Transcript: a file in which another program records a conversation as it goes on."""

from datetime import datetime

from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedPath:
    """A folder or a file whose transcripts the vault follows."""

    #: Counts up within the vault; names the path in events.
    number: int
    #: Absolute, with all links resolved.
    path: str
    #: The agent and channel of its sessions, if they differ from those in the files.
    agent: str | None
    channel: str | None
    added_at: datetime
    #: How many of its files the vault has seen.
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """A file as it was at the last sync, and how far it was read."""

    path: str
    #: The number of the followed path it was found in.
    root: int
    #: Device and inode.
    identity: str = ""
    size: int = 0
    #: In nanoseconds.
    mtime: int = 0
    #: Everything before this offset is in the vault; always the end of a line.
    read_to: int = 0
    lines: int = 0
    #: Digests of the first and the last bytes before `read_to`.
    head: str = ""
    tail: str = ""
    form: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReport:
    """The result of a sync of the transcripts."""

    #: Files with new content.
    files: int = 0
    #: New messages, and messages that were here already.
    added: int = 0
    known: int = 0
    #: Messages that were left out because they repeat what memory served.
    echoes: int = 0
    #: Files that were truncated, rotated or replaced, and so were read from the start.
    reread: int = 0
    unchanged: int = 0
    #: Lines that could not be parsed: file, line counted from 1, reason. The other lines were imported.
    damage: tuple[tuple[str, int, str], ...] = ()
    #: Files that were left out, each with the reason.
    skipped: tuple[tuple[str, str], ...] = ()
    #: False when the deadline passed before everything was done.
    complete: bool = True
    #: The host that keeps the files, when it is another one; nothing was read then.
    kept_by: str | None = None
    #: What was done to the texts that were read.
    notice: Notice = NO_NOTICE
