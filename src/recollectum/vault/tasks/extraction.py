"""Writes the stream of a workspace into a new folder, which appears when it is whole.

Links are made last, so that no file is written through one. Nothing is written outside the folder, whatever the stream
says.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

from recollectum.domain.errors import Damaged, InvalidInput
from recollectum.home.files import explain, write_all
from recollectum.vault.tasks.snapshot import MAX_DEPTH, MAX_HEADER, stays_inside

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_OWN_FOLDER = 0o700


def check_target(target: Path) -> Path:
    """Return the folder that a workspace is written into; raise unless it is empty or does not exist."""
    target = target.absolute()
    try:
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise InvalidInput(f"{target} is not a folder; name a new folder")
        if target.is_dir() and any(target.iterdir()):
            raise InvalidInput(f"{target} is not empty; name a new folder, or empty this one")
        if not target.parent.is_dir():
            raise InvalidInput(f"there is no folder {target.parent}; create it, or name another")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{target} cannot be used ({type(error).__name__}); name a new folder") from None
    return target


def extract(pieces: Iterable[bytes], target: Path) -> int:
    """Write a stream into a folder that is empty or does not exist; return how many entries it has."""
    room = target.with_name(f".{target.name[:100]}-{os.urandom(8).hex()}.tmp")
    try:
        room.mkdir(_OWN_FOLDER)
        written = _Extraction(room, _Stream(pieces)).run()
        # A rename replaces an empty folder on POSIX; elsewhere it has to go first.
        if os.name == "nt" and target.is_dir():
            target.rmdir()
        room.rename(target)
    except OSError as error:
        raise explain(error, target) from error
    finally:
        if room.exists():
            _remove(room)
    return written


class _Stream:
    """Reads exact numbers of bytes from pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = memoryview(b"")

    def some(self, most: int) -> memoryview:
        """Return some bytes, at least one; raise when there are no more."""
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                raise _damaged("it ends too early")
            self._held = memoryview(piece)
        found, self._held = self._held[:most], self._held[most:]
        return found

    def exactly(self, count: int) -> bytes:
        """Return so many bytes."""
        found = bytearray()
        while len(found) < count:
            found += self.some(count - len(found))
        return bytes(found)

    def is_done(self) -> bool:
        """Return whether nothing follows."""
        return not self._held and not any(self._pieces)


class _Extraction:
    def __init__(self, room: Path, stream: _Stream) -> None:
        self._room = os.fspath(room)
        self._stream = stream
        self._folders: dict[str, int] = {"": _OWN_FOLDER}
        self._links: list[tuple[str, str]] = []
        self._entries = 0

    def run(self) -> int:
        for fields in self._headers():
            kind = fields.get("t")
            path = _checked_path(fields.get("p"), self._folders)
            if kind == "d":
                os.mkdir(self._place(path), _OWN_FOLDER)  # noqa: PTH102 - a hundred thousand files
                self._folders[path] = _number(fields, "m") & 0o777
            elif kind == "f":
                self._file(path, fields)
            elif kind == "l" and stays_inside(path, str(fields.get("l", ""))):
                self._links.append((path, str(fields["l"])))
            else:
                raise _damaged("it holds an entry that is no file, no folder and no link inside the workspace")
            self._entries += 1
        self._make_links()
        for path, mode in reversed(list(self._folders.items())):
            if path:
                Path(self._place(path)).chmod(mode)
        return self._entries

    def _headers(self) -> Iterator[dict[str, object]]:
        while True:
            size = int.from_bytes(self._stream.exactly(4), "big")
            if size > MAX_HEADER:
                raise _damaged("a header is too long")
            try:
                fields: object = json.loads(self._stream.exactly(size))
            except (ValueError, RecursionError):
                raise _damaged("a header is not JSON") from None
            if not isinstance(fields, dict):
                raise _damaged("a header is not an object")
            known = cast("dict[str, object]", fields)
            if known.get("t") == "end":
                if known.get("n") != self._entries or not self._stream.is_done():
                    raise _damaged("it has another number of entries than it says")
                return
            yield known

    def _file(self, path: str, fields: dict[str, object]) -> None:
        left, mode, time = _number(fields, "s"), _number(fields, "m") & 0o777, _number(fields, "n")
        file = self._made(path, lambda place: os.open(place, _NEW, 0o600))
        try:
            while left:
                piece = self._stream.some(left)
                write_all(file, cast("bytes", piece))
                left -= len(piece)
            if os.utime in os.supports_fd:
                os.utime(file, ns=(time, time))
            if hasattr(os, "fchmod"):
                os.fchmod(file, mode)
        except (OverflowError, ValueError):
            raise _damaged("a time is out of range") from None
        finally:
            os.close(file)

    def _make_links(self) -> None:
        for path, target in self._links:

            def link(place: str, target: str = target) -> int:
                os.symlink(target, place)  # noqa: PTH211 - the target is a text
                return 0

            self._made(path, link)

    def _made(self, path: str, make: Callable[[str], int]) -> int:
        try:
            return make(self._place(path))
        except FileExistsError:
            raise _damaged("a path is in it twice") from None

    def _place(self, path: str) -> str:
        return f"{self._room}/{path}"


def _checked_path(path: object, folders: dict[str, int]) -> str:
    """Return a path whose parent is a folder of the stream; raise for any other."""
    if not isinstance(path, str) or not path or "\0" in path or (os.name == "nt" and ("\\" in path or ":" in path)):
        raise _damaged("a path is missing or cannot be written here")
    parent, _, name = path.rpartition("/")
    if name in ("", ".", "..") or parent not in folders or path in folders or path.count("/") > MAX_DEPTH:
        raise _damaged("a path leads out of the workspace, or its folder is not in it")
    return path


def _number(fields: dict[str, object], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise _damaged("a number in a header is missing or out of range")
    return value


def _remove(room: Path) -> None:
    # Folders that may not be written by their owner, as they were in the workspace.
    for folder, names, _ in os.walk(room):
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(_OWN_FOLDER)
    shutil.rmtree(room)


def _damaged(why: str) -> Damaged:
    return Damaged(f"the archive of the workspace cannot be used: {why}; nothing was written, save the task again")
