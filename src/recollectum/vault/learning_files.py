"""Where an owner's own files lie, and reading and writing them so that nothing of a person's is lost."""

import os
import re
import stat
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.owner import Owner
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.vault.note_files import Unfit, read_bytes

LEARNINGS = "LEARNINGS.md"
MOST_BYTES = 1_000_000
_PLAIN = re.compile(r"[a-z0-9_-]{1,64}")
_STRANGE = re.compile(r"[^a-z0-9_-]+")
_MARK_BYTES = 8


class ChangedMeanwhile(Exception):
    """Somebody wrote the file after it was read."""


@dataclass(frozen=True, slots=True)
class Read:
    """A file as it was read: its text, and what it has to be still like when it is replaced."""

    path: Path
    text: str
    data: bytes
    #: When and as which file it was written last; None when there was none.
    state: tuple[int, int] | None


def owner_folder(owners: Path | None, owner: Owner | None) -> Path:
    """The folder of one owner's files; two owners never have the same."""
    if owners is None or owner is None:
        raise InvalidInput("this vault was opened without a home, so it has no files; open it through a home")
    return owners / _named(f"{owner.kind}-", owner.name if owner.agent is None else str(owner), str(owner))


def agent_folder(folder: Path, agent: str | None) -> Path:
    """The folder of one agent's files; without an agent, of what all of them share."""
    return folder if agent is None else folder / _named("agent-", agent, agent)


def _named(prefix: str, name: str, whole: str) -> str:
    """A name for any file system; one that had to be changed has a dot and a mark, which no plain one has."""
    if _PLAIN.fullmatch(name):
        return prefix + name
    mark = blake2b(whole.encode(), digest_size=_MARK_BYTES).hexdigest()
    return f"{prefix}{_STRANGE.sub('-', name.casefold())[:64]}.{mark}"


def read(path: Path, most: int = MOST_BYTES) -> Read:
    """The text of a file, empty when there is none; `Unfit` says why a file is not read."""
    for folder in path.parents[:2]:
        if folder.is_symlink():
            raise Unfit(f"lies behind the link {folder.name}, and links are not followed; put a folder in its place")
    try:
        seen = path.lstat()
        if stat.S_ISLNK(seen.st_mode):
            raise Unfit("is a link, and links are not followed; put a file in its place")
        if seen.st_size > most:
            raise Unfit(f"has {seen.st_size:,} bytes, and more than {most:,} are not read; make it shorter")
        data, state = read_bytes(path, most)
    except FileNotFoundError:
        return Read(path, "", b"", None)
    except OSError as error:
        raise Unfit(f"cannot be read ({error.strerror}); look at what is there") from error
    return Read(path, _decoded(data), data, (state.st_mtime_ns, state.st_ino))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unfit(f"is not UTF-8 on line {line}; save it as UTF-8") from None


def replace(before: Read, text: str, folders: tuple[Path, ...]) -> None:
    """Write the file, unless somebody wrote it after it was read."""
    for folder in folders:
        make_private_folder(folder)
    data = text.encode()
    now = read(before.path, max(len(before.data), len(data), MOST_BYTES))
    if (now.state, now.data) != (before.state, before.data):
        raise ChangedMeanwhile
    write_atomic(before.path, data)


def exists(path: Path) -> bool:
    """Whether there is anything under that name, even a link that leads nowhere."""
    return os.path.lexists(path)


def plain_agent(name: str) -> str | None:
    """The agent whose folder has that name, as far as the name says so."""
    agent = name.removeprefix("agent-")
    return agent if agent != name and _PLAIN.fullmatch(agent) else None
