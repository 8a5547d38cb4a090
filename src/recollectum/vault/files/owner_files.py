"""Locates an owner's own files, reads them, and replaces them only when nobody else wrote them meanwhile."""

import os
import re
import stat
from hashlib import blake2b
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.vault.files.text_files import UnreadableFile, read_bytes

LEARNINGS = "LEARNINGS.md"
MAX_FILE_BYTES = 1_000_000
_PLAIN = re.compile(r"[a-z0-9_-]{1,64}")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_MARK_BYTES = 8


class FileChangedError(Exception):
    """Raised when the file was written after it was read."""


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read: its text, and the state it must still have when it is replaced."""

    path: Path
    text: str
    data: bytes
    #: Modification time and identity of the file; None when there was no file.
    state: tuple[int, int] | None


def owner_folder(owners: Path | None, owner: Owner | None) -> Path:
    """Return the folder of one owner's files; two owners never share one."""
    if owners is None or owner is None:
        raise InvalidInput("this vault was opened without a home, so it has no files; open it through a home")
    return owners / _safe_folder_name(f"{owner.kind}-", owner.name if owner.agent is None else str(owner), str(owner))


def agent_folder(folder: Path, agent: str | None) -> Path:
    """Return the folder of one agent's files; without an agent, the folder that all agents share."""
    return folder if agent is None else folder / _safe_folder_name("agent-", agent, agent)


def _safe_folder_name(prefix: str, name: str, whole: str) -> str:
    """Return a name that is valid on any file system; a changed name gets a dot and a digest, so it stays unique."""
    if _PLAIN.fullmatch(name):
        return prefix + name
    mark = blake2b(whole.encode(), digest_size=_MARK_BYTES).hexdigest()
    return f"{prefix}{_UNSAFE.sub('-', name.casefold())[:64]}.{mark}"


def read(path: Path, most: int = MAX_FILE_BYTES) -> FileSnapshot:
    """Return the text of a file, empty when there is none; raise `UnreadableFile` when it cannot be read."""
    for folder in path.parents[:2]:
        if folder.is_symlink():
            raise UnreadableFile(
                f"lies behind the link {folder.name}, and links are not followed; put a folder in its place"
            )
    try:
        seen = path.lstat()
        if stat.S_ISLNK(seen.st_mode):
            raise UnreadableFile("is a link, and links are not followed; put a file in its place")
        if seen.st_size > most:
            raise UnreadableFile(f"has {seen.st_size:,} bytes, and more than {most:,} are not read; make it shorter")
        data, state = read_bytes(path, most)
    except FileNotFoundError:
        return FileSnapshot(path, "", b"", None)
    except OSError as error:
        raise UnreadableFile(f"cannot be read ({error.strerror}); check the file") from error
    return FileSnapshot(path, _decoded(data), data, (state.st_mtime_ns, state.st_ino))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(f"is not UTF-8 on line {line}; save it as UTF-8") from None


def replace(before: FileSnapshot, text: str, folders: tuple[Path, ...]) -> None:
    """Write the file, unless it was written after it was read."""
    for folder in folders:
        make_private_folder(folder)
    data = text.encode()
    now = read(before.path, max(len(before.data), len(data), MAX_FILE_BYTES))
    if (now.state, now.data) != (before.state, before.data):
        raise FileChangedError
    write_atomic(before.path, data)


def exists(path: Path) -> bool:
    """Return whether the path exists, even as a broken link."""
    return os.path.lexists(path)


def agent_of_folder(name: str) -> str | None:
    """Return the agent whose folder has that name, if the name tells it."""
    agent = name.removeprefix("agent-")
    return agent if agent != name and _PLAIN.fullmatch(agent) else None
