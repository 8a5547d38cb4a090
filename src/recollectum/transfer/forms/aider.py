"""Reads the chat history of aider: Markdown with a heading for each chat, and `####` for what the person said."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import BinaryIO

from recollectum.domain.message import Role
from recollectum.transfer.forms.building import Talk
from recollectum.transfer.jsonl import MAX_LINE, bounded_lines
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, Progress

AGENT = "aider"
NAME = "aider chat history"
FILE = ".aider.chat.history.md"
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_SAID = "#### "
_NOTICE = ">"
#: One reply is cut here, so that a file with no headings stays bounded.
_LONGEST = 2**20


def is_start(line: bytes) -> bool:
    """Return whether a line begins a chat."""
    return _START.match(line.decode("utf-8", "replace")) is not None


def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield each chat: the person's words, and the model's; notices of the program are left out."""
    talk: Talk | None = None
    starts: dict[str, int] = {}
    turn, asked = _Turn(), False
    for number, line in enumerate(_lines(file, progress), start=1):
        if isinstance(line, DamagedPart):
            yield line
            continue
        begun = _START.match(line)
        if begun:
            yield from turn.end(talk)
            # Before the first question there is no answer, only the command line, which may have several lines.
            asked = False
            place = starts[begun[1]] = starts.get(begun[1], 0) + 1
            talk = _talk(begun[1], place)
            if talk is None:
                yield DamagedPart(f"line {number}", f"{begun[1]} is not a time")
            else:
                yield talk.begins
        elif line.startswith(_SAID):
            asked = True
            yield from turn.add(talk, Role.USER, line.removeprefix(_SAID))
        elif asked and not line.startswith(_NOTICE):
            yield from turn.add(talk, Role.ASSISTANT, line)
        else:
            yield from turn.end(talk)
    yield from turn.end(talk)


class _Turn:
    """The lines of one speaker."""

    def __init__(self) -> None:
        self._role = Role.ASSISTANT
        self._lines: list[str] = []
        self._length = 0

    def add(self, talk: Talk | None, role: Role, line: str) -> Iterator[ForeignItem]:
        """Add a line; yield the message before it if another one speaks now."""
        # An empty line after the person's words is a space, not a reply.
        if role is not self._role and (role is Role.USER or line.strip()):
            yield from self.end(talk)
            self._role = role
        self._lines.append(line.rstrip())
        self._length += len(line)
        if self._length > _LONGEST:
            yield from self.end(talk)

    def end(self, talk: Talk | None) -> Iterator[ForeignItem]:
        """Yield the message of the lines, if they say anything."""
        text = "\n".join(self._lines).strip("\n")
        self._lines, self._length = [], 0
        if talk is not None and text.strip():
            yield talk.say(self._role, text)


def _talk(started: str, place: int) -> Talk | None:
    try:
        # The program writes the time of the machine it runs on, without a zone.
        at = datetime.fromisoformat(started).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return Talk(AGENT, started if place == 1 else f"{started} #{place}", at, channel="cli")


def _lines(file: BinaryIO, progress: Progress) -> Iterable[str | DamagedPart]:
    for number, line in enumerate(bounded_lines(file), start=1):
        progress(len(line))
        if len(line) > MAX_LINE:
            yield DamagedPart(f"line {number}", f"it is longer than {MAX_LINE} bytes")
        else:
            yield line.decode("utf-8", "replace").rstrip("\r\n")
