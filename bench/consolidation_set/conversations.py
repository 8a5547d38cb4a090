"""Reads the labelled conversations of the consolidation benchmark."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Message
from tests.distil.said import memory, message

FOLDER = Path(__file__).parent
HALVES = ("tuned", "held")
KINDS = {
    "fact": Kind.FACT,
    "preference": Kind.PREFERENCE,
    "instruction": Kind.CORRECTION,
    "project": Kind.PROJECT,
    "task": Kind.TASK,
}
SORTS = (
    "question",
    "momentary",
    "hypothetical",
    "quoted",
    "sarcasm",
    "dropped",
    "other",
    "assistant",
    "secret",
)
_TURN = re.compile(r"([uat]): (.+)")
_LABEL = re.compile(r"  ([+?]) (\w+)(?: replaces (\d+))?: (.+?)(?: ~ (.+))?")
_TRAP = re.compile(r"  - (\w+): (.+)")


class Unreadable(ValueError):
    """A line of the set that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Something that should be proposed from a turn, or may be."""

    kind: str
    #: Words of the turn, as they were said.
    words: str
    #: The same as a statement of a model; empty if the words will do.
    wording: str = ""
    #: The number of the known memory that is no longer true; 0 for none.
    replaces: int = 0
    #: Whether it should be proposed; else it may be.
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Trap:
    """Words that look worth keeping and are not."""

    sort: str
    words: str


@dataclass(slots=True)
class Turn:
    """One turn of a conversation, and what should become of it."""

    letter: str
    text: str
    labels: list[Label] = field(default_factory=list[Label])
    traps: list[Trap] = field(default_factory=list[Trap])


@dataclass(slots=True)
class Conversation:
    """A labelled conversation."""

    title: str
    known: list[str] = field(default_factory=list[str])
    turns: list[Turn] = field(default_factory=list[Turn])

    def messages(self) -> list[Message]:
        """Return the turns as messages; the id of each ends in its place, from 1."""
        return [message(place, one.letter, one.text) for place, one in enumerate(self.turns, start=1)]

    def memories(self) -> list[Memory]:
        """Return the known memories; the id of each ends in its number, from 1."""
        return [memory(known_id(number), content) for number, content in enumerate(self.known, start=1)]


def known_id(number: int) -> str:
    """Return the id of a known memory."""
    return f"mem_{number}"


def conversations(half: str) -> list[Conversation]:
    """Return the conversations of a half, in the order of their files."""
    paths = sorted((FOLDER / half).glob("*.txt"))
    return [one for path in paths for one in parse(path.read_text(encoding="utf-8").splitlines(), path.name)]


def parse(lines: Sequence[str], name: str) -> Iterator[Conversation]:
    """Yield the conversations of a file; raise Unreadable for a line that breaks the form."""
    current: Conversation | None = None
    for number, line in enumerate(lines, start=1):
        if line.startswith("# "):
            if current:
                yield current
            current = Conversation(line[2:])
        elif line.strip() and not (current and _add(current, line)):
            raise Unreadable(f"{name}, line {number}: {line!r} is no turn, no label and no trap, or not said there")
    if current:
        yield current


def _add(conversation: Conversation, line: str) -> bool:
    """Add a line to the conversation; return whether it could be read."""
    if line.startswith("known: "):
        conversation.known.append(line.removeprefix("known: "))
        return True
    if found := _TURN.fullmatch(line):
        conversation.turns.append(Turn(found[1], found[2].replace("\\n", "\n")))
        return True
    if not conversation.turns:
        return False
    turn = conversation.turns[-1]
    if found := _LABEL.fullmatch(line):
        sign, kind, replaces, words, wording = found.groups()
        label = Label(kind=kind, words=words, wording=wording or "", replaces=int(replaces or 0), wanted=sign == "+")
        turn.labels.append(label)
        return kind in KINDS and words in turn.text and label.replaces <= len(conversation.known)
    if found := _TRAP.fullmatch(line):
        turn.traps.append(Trap(found[1], found[2]))
        return found[1] in SORTS and found[2] in turn.text
    return False
