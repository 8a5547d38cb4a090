"""Reads a workspace as one stream of bytes: each file, folder and symbolic link with a header, in a fixed order.

A header is its length in four bytes and a JSON object. The content of a file follows its header. The last header says
how many entries there are.
"""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.domain.files.task import TaskWorkspace

MAX_HEADER = 65536
MAX_DEPTH = 256
#: Bytes that are read from a file at once; few enough to stay in the cache of the processor.
_PIECE = 2**17
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_KINDS = (
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


class WorkspaceReader:
    """Reads one workspace, and counts what it has read."""

    def __init__(self, root: Path, most: int) -> None:
        if not root.is_dir():
            raise InvalidInput(f"{root} is not a folder; name the folder of the workspace")
        self._root = os.fspath(root.absolute())
        self._most = most
        self._files = self._folders = self._links = self._bytes = 0
        self._left_out: list[tuple[str, str]] = []

    def pieces(self) -> Iterator[bytes]:
        """Yield the stream in pieces."""
        for piece in self._pieces():
            self._bytes += len(piece)
            if self._bytes > self._most:
                raise InvalidInput(
                    f"the workspace {self._root} is larger than {self._most // 2**20} MiB; "
                    "delete what is not needed, or raise tasks.max_mib"
                )
            yield piece

    def result(self, stored_bytes: int) -> TaskWorkspace:
        """Return what was read, once it is all read."""
        return TaskWorkspace(
            files=self._files,
            folders=self._folders,
            links=self._links,
            bytes=self._bytes,
            stored_bytes=stored_bytes,
            left_out=tuple(self._left_out),
        )

    def _pieces(self) -> Iterator[bytes]:
        yield from self._folder("", 0)
        yield _header({"t": "end", "n": self._files + self._folders + self._links})

    def _folder(self, below: str, depth: int) -> Iterator[bytes]:
        if depth > MAX_DEPTH:
            raise InvalidInput(f"{below} is nested deeper than {MAX_DEPTH} folders; move it up")
        try:
            with os.scandir(os.path.join(self._root, below)) as found:  # noqa: PTH118 - a hundred thousand files
                entries = sorted(found, key=lambda one: one.name)
        except OSError as error:
            raise _unreadable(below or self._root, error) from error
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_symlink():
                yield from self._link(path, entry.path)
            elif entry.is_dir(follow_symlinks=False):
                self._folders += 1
                mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
                yield _header({"p": path, "t": "d", "m": mode & 0o777})
                yield from self._folder(path, depth + 1)
            else:
                yield from self._file(path, entry.path)

    def _link(self, path: str, place: str) -> Iterator[bytes]:
        try:
            target = os.readlink(place)  # noqa: PTH115 - a text, as it is stored
        except FileNotFoundError:
            return
        if not stays_inside(path, target):
            self._left_out.append((path, "a link that leads out of the workspace"))
            return
        self._links += 1
        yield _header({"p": path, "t": "l", "l": target})

    def _file(self, path: str, place: str) -> Iterator[bytes]:
        kind = _special(place)
        if kind is not None:
            self._left_out.append((path, kind))
            return
        try:
            file = os.open(place, os.O_RDONLY | _NO_FOLLOW)
        except FileNotFoundError:
            # Deleted since the folder was listed.
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise Conflict(f"{path} changed while the workspace was read; save it again")
            self._files += 1
            mode, size = stat.S_IMODE(found.st_mode) & 0o777, found.st_size
            yield _header({"p": path, "t": "f", "m": mode, "s": size, "n": found.st_mtime_ns})
            yield from _content(file, path, size)
        finally:
            os.close(file)


def _content(file: int, path: str, size: int) -> Iterator[bytes]:
    left = size
    while left:
        piece = os.read(file, min(left, _PIECE))
        if not piece:
            raise Conflict(f"{path} became shorter while the workspace was read; save it again")
        left -= len(piece)
        yield piece


def stays_inside(path: str, target: str) -> bool:
    """Return whether a link at a path inside a workspace cannot lead out of it, through other such links either."""
    if not target or target.startswith(("/", "\\")) or "\0" in target or (os.name == "nt" and ":" in target):
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((place for place, part in enumerate(parts) if part != ".."), len(parts))
    # A `..` after a name goes up from where that name leads, which may be another link.
    return ups <= path.count("/") and ".." not in parts[ups:]


def _special(place: str) -> str | None:
    """Return what a path is when it is no regular file."""
    try:
        mode = os.lstat(place).st_mode
    except OSError:
        # Opening it gives the reason.
        return None
    return next((name for is_kind, name in _KINDS if is_kind(mode)), None)


def _header(fields: dict[str, object]) -> bytes:
    data = json.dumps(fields, separators=(",", ":")).encode()
    if len(data) > MAX_HEADER:
        raise InvalidInput("a path in the workspace is too long to be stored; shorten it")
    return len(data).to_bytes(4, "big") + data


def _unreadable(path: str, error: OSError) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be read ({error.strerror or type(error).__name__}); "
        "allow this account to read it, or move it out of the workspace"
    )
