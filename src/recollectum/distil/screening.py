"""Blanks what must not be learned from a conversation: echoes of served texts, and forgotten spans."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from recollectum.context.rendering import frame
from recollectum.distil.reconciliation import Words, adds_detail, words_of
from recollectum.distil.sentences import around, sentences
from recollectum.domain.context import PartKind
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message, Role
from recollectum.domain.proposal import Span
from recollectum.domain.records import dataclass
from recollectum.domain.session import BY_RULES, Summary
from recollectum.domain.trust import Trust
from recollectum.text.terms.similarity import fingerprint

_FENCED = re.compile(r"<(recalled|summary)-([A-Za-z0-9]{8,64})>.*?(?:</\1-\2>|\Z)", re.DOTALL)
# Each part ends at the first word of the next, and is not tried again: a line costs as much as it is long.
_LABELLED = re.compile(
    r"^[ \t]*\[(?:(?!; by )[^\]\n])*+; by (?:(?!; trust: )[^\]\n])*+; trust: [^\]\n]*+\][ \t]*(?:\n[ \t]*\|.*)*",
    re.MULTILINE,
)
_MARK = "0" * 8
# Anybody writes a heading "# Notes"; it counts as ours only beside another of ours.
_OURS = (PartKind.PROFILE, PartKind.LEARNING, PartKind.MEMORY, PartKind.SUMMARY, PartKind.MESSAGE)


def rendered_blocks(text: str) -> list[tuple[int, int]]:
    """Return the ranges of a text that are a context of ours, or a part of one; they may overlap."""
    if "[" not in text and "#" not in text and "<" not in text:
        return []
    headed = [found.span() for found in _headed().finditer(text)]
    found = headed + [one.span() for pattern in (_FENCED, _LABELLED) for one in pattern.finditer(text)]
    notes = _notes().search(text)
    if found and notes and notes.start() < (first := min(start for start, _ in found)):
        found.append((notes.start(), first))
    return sorted(found)


@cache
def _headed() -> re.Pattern[str]:
    """Return the pattern of one of our headings and all lines up to an empty one."""
    names = "|".join(re.escape(_heading(kind)) for kind in _OURS)
    return re.compile(rf"^[ \t]*(?:{names})[ \t]*(?:\n[ \t]*\S.*)*", re.MULTILINE)


@cache
def _notes() -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(_heading(PartKind.NOTES))}[ \t]*$", re.MULTILINE)


def _heading(kind: PartKind) -> str:
    # Taken from the renderer: a heading that changes there is recognised here.
    return frame(kind, _MARK, Summary(text="", up_to=0, by=BY_RULES))[0].split("\n")[0]


#: A text of fewer words is an echo only when it is equal.
_FEWEST_WORDS = 4
#: The share of its words that a near-copy has from one served sentence, in tenths.
_COPIED_TENTHS = 9


@dataclass(frozen=True, slots=True)
class ServedTexts:
    """Texts that a model was given: memories, the system prompt, notes, whole contexts."""

    texts: Sequence[str] = ()


class EchoDetector:
    """Recognises repetitions of any of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._prints: set[str] = set()
        self._units: list[Words] = []
        self._seen: set[Words] = set()
        self._with: defaultdict[str, list[int]] = defaultdict(list)
        for text in dict.fromkeys(texts):
            self._learn(text)

    def _learn(self, text: str) -> None:
        if not text.strip():
            return
        self._prints.add(fingerprint(text))
        for sentence in sentences(text):
            self._prints.add(fingerprint(sentence.text))
            words = words_of(sentence.text)
            if len(words.terms) >= _FEWEST_WORDS and words not in self._seen:
                self._seen.add(words)
                for term in words.terms:
                    self._with[term].append(len(self._units))
                self._units.append(words)

    def repeats(self, text: str) -> bool:
        """Return whether a sentence only repeats one of the texts."""
        if not self._prints:
            return False
        return fingerprint(text) in self._prints or self._is_copy(words_of(text))

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return the ranges of a text that are echoes: sentences, and blocks of a context, whether served or not."""
        if self._prints and fingerprint(text) in self._prints:
            return [(0, len(text))]
        found = [(one.start, one.end) for one in sentences(text) if self.repeats(one.text)]
        return sorted(found + rendered_blocks(text))

    def _is_copy(self, said: Words) -> bool:
        if len(said.terms) < _FEWEST_WORDS:
            return False
        shared = Counter(unit for term in said.terms for unit in self._with.get(term, ()))
        return any(self._is_copy_of(said, self._units[unit], count) for unit, count in shared.items())

    def _is_copy_of(self, said: Words, unit: Words, shared: int) -> bool:
        if adds_detail(said, unit):
            return False
        if 10 * shared >= _COPIED_TENTHS * len(said.terms):
            return True
        # "As you told me, …" and then the whole of it: more words, but nothing new.
        return 10 * shared >= _COPIED_TENTHS * len(unit.terms) and said.telling <= unit.terms


#: The system prompt contains no statements of the person, and notices are the program's own.
_READ = frozenset({Role.USER, Role.ASSISTANT, Role.TOOL})


@dataclass(frozen=True, slots=True)
class Screened:
    """One message and its readable part."""

    message: Message
    #: As long as the text of the message, with spaces for the unreadable parts.
    text: str
    #: The blanked ranges in order, of which no two touch.
    hidden: tuple[tuple[int, int], ...] = ()

    def hides(self, start: int, end: int) -> bool:
        """Return whether a range contains blanked text."""
        last = bisect_left(self.hidden, (end,))
        return last > 0 and start < self.hidden[last - 1][1]

    @property
    def is_owners(self) -> bool:
        """Return whether the person wrote it."""
        return self.message.role is Role.USER and self.message.trust is Trust.OWNER


@dataclass(frozen=True, slots=True)
class Screen:
    """The texts that must not be learned from a conversation: served ones and forgotten ones."""

    #: For the person's own messages.
    heard: EchoDetector
    #: For all other messages, which also repeat known facts.
    repeated: EchoDetector
    barred: Sequence[Span]

    def of(self, message: Message) -> Screened:
        """Return the message with the unreadable parts blanked."""
        text = message.text
        echoes = self.heard if message.role is Role.USER else self.repeated
        hidden = _merged([*_barred(message, text, self.barred), *echoes.places(text)])
        return Screened(message, _blanked(text, hidden), tuple(hidden))


def screen_for(
    conversation: Sequence[Message], known: Sequence[Memory], *, barred: Sequence[Span], served: ServedTexts
) -> Screen:
    """Return the screen of a conversation."""
    prompts = [one.text for one in conversation if one.role is Role.SYSTEM]
    # A statement that was made twice and forgotten once is forgotten.
    forgotten = [one.text[left:right] for one in conversation for left, right in _barred(one, one.text, barred)]
    given = [*served.texts, *prompts, *forgotten]
    return Screen(EchoDetector(given), EchoDetector([*given, *(memory.content for memory in known)]), barred)


def screen_messages(conversation: Sequence[Message], screen: Screen) -> list[Screened]:
    """Return the messages that have something to read, in order."""
    all_of_them = (screen.of(message) for message in conversation if message.role in _READ)
    return [one for one in all_of_them if not one.text.isspace() and one.text]


def _barred(message: Message, text: str, barred: Sequence[Span]) -> list[tuple[int, int]]:
    spans = [(max(0, one.start), min(one.end, len(text))) for one in barred if one.message_id == message.id]
    return [around(text, start, end) for start, end in spans if start < end]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, with those that touch made one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _blanked(text: str, hidden: Iterable[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in hidden:
        kept += [text[at:start], " " * (end - start)]
        at = end
    return "".join((*kept, text[at:]))
