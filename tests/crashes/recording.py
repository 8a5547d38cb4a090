"""A file layer below SQLite that notes everything written, so that a power cut can be played back."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import apsw

if TYPE_CHECKING:
    from collections.abc import Buffer

LAYER = "recording"


@dataclass(frozen=True, slots=True)
class Made:
    """A file came to be."""

    file: int
    name: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """Bytes were handed to the system, which may keep them for itself until the next sync."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """The file was cut, or stretched, to a size."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """The system said that everything in the file is on the medium."""

    file: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A name went away; whether that is on the medium is another matter."""

    name: str
    synced: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """Something the test wants to find again at this place, such as an answer to a caller."""

    what: object


Entry: TypeAlias = Made | Wrote | Cut | Synced | Deleted | Noted


@dataclass(slots=True)
class Recording:
    """Everything that happened, in order."""

    entries: list[Entry] = field(default_factory=list[Entry])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _made: int = 0

    def file(self, name: str) -> int:
        """The number of the file that has this name now."""
        if name not in self._numbers:
            self._numbers[name] = self._made
            self.entries.append(Made(self._made, name))
            self._made += 1
        return self._numbers[name]

    def delete(self, name: str, *, synced: bool) -> None:
        """Note that a name went away; the next file of that name is another one."""
        if self._numbers.pop(name, None) is not None:
            self.entries.append(Deleted(name, synced))

    def note(self, what: object) -> None:
        """Note something of the test's own."""
        self.entries.append(Noted(what))


class RecordingLayer(apsw.VFS):
    """The system's own file layer, with a recording of what passes through it."""

    def __init__(self, name: str) -> None:
        self.recording = Recording()
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _RecordedFile(name, flags, self.recording)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001
        super().xDelete(filename, syncdir)
        self.recording.delete(Path(filename).name, synced=syncdir)


@cache
def recording_layer() -> RecordingLayer:
    """The one such layer: SQLite's layer that encrypts holds on to what it once stood upon."""
    return RecordingLayer(LAYER)


class _RecordedFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], recording: Recording) -> None:
        super().__init__("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or "?"
        self._recording = recording
        self._file = recording.file(Path(path).name)

    def xWrite(self, data: "Buffer", offset: int) -> None:
        super().xWrite(data, offset)
        self._recording.entries.append(Wrote(self._file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._recording.entries.append(Cut(self._file, newsize))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._recording.entries.append(Synced(self._file))
