"""Transcript: a file in which another program writes down a conversation as it goes on."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedPath:
    """A folder or a file whose transcripts the vault follows."""

    #: Counts up within the vault; what events call the place.
    number: int
    #: Absolute, with every link in it followed.
    path: str
    #: The agent and channel its sessions are kept under, when they are not the ones the files say.
    agent: str | None
    channel: str | None
    added_at: datetime
    #: How many of its files the vault has met.
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """A file as it was at the last look, and how far it has been read."""

    path: str
    #: The number of the place it was found in.
    root: int
    #: Device and inode.
    identity: str = ""
    size: int = 0
    #: In nanoseconds.
    mtime: int = 0
    #: Everything before this byte is in the vault; always the end of a line.
    read_to: int = 0
    lines: int = 0
    #: Digests of the first and the last bytes before `read_to`.
    head: str = ""
    tail: str = ""
    form: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReport:
    """What a look at the transcripts changed."""

    #: Files in which something new was read.
    files: int = 0
    #: Messages that came in, and those that were here already.
    added: int = 0
    known: int = 0
    #: Files that were cut, rotated or replaced, and so were read from their beginning.
    reread: int = 0
    unchanged: int = 0
    #: Lines that could not be read: file, line counted from 1, reason. Each cost only itself.
    damage: tuple[tuple[str, int, str], ...] = ()
    #: Files that were left out, each with the reason.
    skipped: tuple[tuple[str, str], ...] = ()
    #: False when the time was over before everything was seen to.
    complete: bool = True
