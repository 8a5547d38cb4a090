"""Records how a state file is rewritten, cuts the power at every moment in every way, and reads what is left."""

import os
import random
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.crashes.medium import FATES, Medium
from tests.crashes.recording import Deleted, Entry, Made, Noted, Synced, Wrote

Write: TypeAlias = Callable[[Path, bytes], None]
_NAME = "state"
_LETTERS = 3000


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file got another name, and the one that had it before is gone."""

    old: str
    new: str


@dataclass(slots=True)
class Toll:
    """What the power cuts left."""

    states: int = 0
    #: Neither the old content nor the new one.
    half: int = 0
    #: The old one, although the new one had been acknowledged.
    lost: int = 0


@dataclass(slots=True)
class _Tape:
    """What a program asks of the system, in order, with the files by number."""

    folder: Path
    entries: list[Entry | Renamed | None] = field(default_factory=list["Entry | Renamed | None"])
    open: dict[int, int] = field(default_factory=dict[int, int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    made: int = 0

    def note_open(self, file: int, path: Path, flags: int) -> None:
        if path.is_dir():
            self.open[file] = -1
        elif flags & (os.O_WRONLY | os.O_RDWR):
            # One that was there is emptied or written anew by every writer here: it is as good as another file.
            self.entries.append(Made(self.made, path.name))
            self.open[file] = self.made
            self.ends[file] = 0
            self.made += 1

    def note_write(self, file: int, data: bytes) -> None:
        if file in self.open:
            self.entries.append(Wrote(self.open[file], self.ends[file], data))
            self.ends[file] += len(data)

    def note_sync(self, file: int) -> None:
        if file in self.open:
            # None is a sync of the folder: every name in it is certain.
            self.entries.append(Synced(self.open[file]) if self.open[file] >= 0 else None)


@contextmanager
def _taped(folder: Path) -> Generator[_Tape]:
    """Everything that is asked of the system inside the block; it is done as well."""
    tape = _Tape(folder)
    really = (os.open, os.write, os.fsync, os.close, os.replace, os.rename)

    def opened(path: str | Path, flags: int, mode: int = 0o777) -> int:
        file = really[0](path, flags, mode)
        tape.note_open(file, Path(path), flags)
        return file

    def written(file: int, data: bytes) -> int:
        count = really[1](file, data)
        tape.note_write(file, bytes(data)[:count])
        return count

    def synced(file: int) -> None:
        really[2](file)
        tape.note_sync(file)

    def closed(file: int) -> None:
        tape.open.pop(file, None)
        really[3](file)

    def renamed(old: str | Path, new: str | Path) -> None:
        really[4](old, new)
        tape.entries.append(Renamed(Path(old).name, Path(new).name))

    with pytest.MonkeyPatch.context() as patch:
        for name, stand_in in zip(
            ("open", "write", "fsync", "close", "replace", "rename"),
            (opened, written, synced, closed, renamed, renamed),
            strict=True,
        ):
            patch.setattr(os, name, stand_in)
        yield tape


def content(number: int) -> bytes:
    """What a state file holds after so many rewrites."""
    return f"{number:08d}".encode() + bytes([65 + number % 26]) * _LETTERS


def cut_rewrites(write: Write, *, rewrites: int, points: int, seed: int) -> Toll:
    """Rewrite a file, cut the power at up to `points` moments in each of six ways, and look what each leaves."""
    if sys.platform != "linux":
        pytest.skip("what is asked of the system is recorded as Linux is asked for it")
    chance, toll = random.Random(seed), Toll()
    with tempfile.TemporaryDirectory() as name, _taped(Path(name)) as tape:
        for number in range(rewrites):
            write(Path(name) / _NAME, content(number))
            tape.entries.append(Noted(number))
    moments = range(len(tape.entries))
    chosen = set(chance.sample(moments, min(points, len(moments))))
    medium, done = _Renaming(), -1
    for at, entry in enumerate(tape.entries):
        medium.follow(entry)
        done = entry.what if isinstance(entry, Noted) and isinstance(entry.what, int) else done
        if at in chosen:
            for fate in FATES:
                toll.states += 1
                _judge(medium.left(FATES.index(fate), chance), done, toll)
    return toll


def _judge(left: bytes | None, done: int, toll: Toll) -> None:
    if left in (content(done), content(done + 1)) or (left is None and done < 0):
        return
    if left is None or any(left == content(number) for number in range(max(0, done))):
        toll.lost += 1
    else:
        toll.half += 1


class _Renaming:
    """The medium, which knows files, with names that change in one folder and are certain after its sync."""

    def __init__(self) -> None:
        self._medium = Medium()
        #: What became of names, in order, and how much of it is certain.
        self._changes: list[Made | Renamed | Deleted] = []
        self._certain = 0

    def follow(self, entry: Entry | Renamed | None) -> None:
        """Let one more thing happen."""
        match entry:
            case None:
                self._certain = len(self._changes)
            case Renamed():
                self._changes.append(entry)
            case Made():
                self._changes.append(entry)
                # Under a name of its own there, since only what it holds is asked for.
                self._medium.take(Made(entry.file, str(entry.file)))
            case _:
                self._medium.take(entry)

    def left(self, fate: int, chance: random.Random) -> bytes | None:
        """What the state file holds after a power cut now; None when there is none."""
        unsure = len(self._changes) - self._certain
        kept = {0: 0, 1: unsure}.get(fate, chance.randint(0, unsure))
        names: dict[str, int] = {}
        for change in self._changes[: self._certain + kept]:
            match change:
                case Made():
                    names[change.name] = change.file
                case Renamed() if change.old in names:
                    names[change.new] = names.pop(change.old)
                case _:
                    pass
        if _NAME not in names:
            return None
        return self._medium.content(names[_NAME], FATES[fate], chance)
