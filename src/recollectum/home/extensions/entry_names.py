"""Refuses names of files in an extension that lead out of its folder, cannot be written everywhere, or collide."""

import unicodedata
from dataclasses import field

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass

MAX_DEPTH = 16
MAX_NAME_BYTES = 240
#: Names that Windows keeps for devices, with any ending.
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{one}" for one in range(10)), *(f"lpt{one}" for one in range(10))}
)
_FORBIDDEN = frozenset('\\:*?"<>|')


def check_entry_name(name: str) -> tuple[str, ...]:
    """Return the parts of a relative path with forward slashes; raise when it could be written anywhere else."""
    if not name or len(name) > 4 * MAX_NAME_BYTES:
        raise _refuse(name, "is empty or too long")
    if name.startswith("/"):
        raise _refuse(name, "is an absolute path")
    parts = tuple(name.removesuffix("/").split("/"))
    if len(parts) > MAX_DEPTH:
        raise _refuse(name, f"is nested deeper than {MAX_DEPTH} folders")
    for part in parts:
        _check_part(name, part)
    if len(name.encode()) > MAX_NAME_BYTES:
        raise _refuse(name, f"is longer than {MAX_NAME_BYTES} bytes")
    return parts


def _check_part(name: str, part: str) -> None:
    if part in ("", ".", ".."):
        raise _refuse(name, "leads out of its folder, or has an empty part")
    if not part.isprintable() or _FORBIDDEN & set(part):
        raise _refuse(name, "has a character that a file name cannot have everywhere")
    if part.endswith((".", " ")) or part.startswith(" "):
        raise _refuse(name, "has a part that begins with a space, or ends with a space or a dot")
    if part.partition(".")[0].casefold() in RESERVED:
        raise _refuse(name, "is a device on Windows")


@dataclass(frozen=True, slots=True)
class EntryNames:
    """The names that were taken so far in one extension."""

    #: Each path as file systems without upper case see it, with its spelling and whether it is a folder.
    _taken: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])

    def take(self, name: str, *, is_folder: bool) -> tuple[str, ...]:
        """Return the parts of a name; raise when it is unsafe, there already, or spelled differently before."""
        parts = check_entry_name(name)
        for depth in range(1, len(parts)):
            self._take("/".join(parts[:depth]), is_folder=True)
        whole = "/".join(parts)
        if not is_folder and _folded(whole) in self._taken:
            raise _refuse(name, "is there twice, or differs from another only in upper and lower case")
        self._take(whole, is_folder=is_folder)
        return parts

    def _take(self, path: str, *, is_folder: bool) -> None:
        known = self._taken.setdefault(_folded(path), (path, is_folder))
        if known != (path, is_folder):
            raise _refuse(path, "collides with another name on some file systems")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _refuse(name: str, why: str) -> InvalidInput:
    return InvalidInput(f"the file {ascii(name)[:120]} {why}; nothing was installed, correct the extension")
