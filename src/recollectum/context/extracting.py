"""Extracting: a summary without a language model, made of the most telling sentences themselves, in their order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollectum.domain.message import Message, Role
from recollectum.domain.summary import BY_RULES, Summary
from recollectum.text.tokens import Counter

#: A longer sentence is cut: it is a paste, and its beginning says what it is.
MAX_SENTENCE = 400
#: Of a longer message only the beginning is looked at.
_MAX_MESSAGE = 20_000

_BORDER = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FIRST_PERSON = re.compile(
    r"\b(?:I|I'm|I've|my|mine|we|our|ich|mein\w*|wir|je|mon|ma|mes|nous|yo|mi|mis|io|mio|mia)\b|我", re.IGNORECASE
)
_DECISION = re.compile(
    r"\b(?:decid\w+|agree\w*|chose|chosen|prefer\w*|always|never|must|should|will|won't|plan\w*|need\w*|want\w*|like\w*"
    r"|love\w*|hate\w*|allerg\w+|deadline|due|instead|remember|call me|moved?|live[sd]?|works?|because|changed?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_DATE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|yesterday"
    r"|jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]\w+")
_WORD = re.compile(r"\w")
_SPACE = re.compile(r"\s+")

_OF_ROLE = {Role.USER: 4, Role.ASSISTANT: 1}
_OTHER_ROLE = -2
_SPEAKER = re.compile(r"(\w+): ")


@dataclass(frozen=True, slots=True)
class _Line:
    place: int
    text: str
    score: int


def extract(messages: Sequence[Message], tokens: int, counter: Counter, *, previous: Summary | None = None) -> Summary:
    """The most telling sentences that fit, by rules alone; what the summary before said competes on equal terms."""
    up_to = messages[-1].position if messages else previous.up_to if previous else 0
    lines = dict.fromkeys((*(previous.text.splitlines() if previous else ()), *_sentences(messages)))
    ranked = sorted(
        (_Line(place, line, _score(line)) for place, line in enumerate(lines)), key=lambda one: (-one.score, -one.place)
    )
    kept: list[_Line] = []
    left = tokens
    for line in ranked:
        cost = counter.count(line.text + "\n") + 1
        if cost <= left:
            kept.append(line)
            left -= cost
        # Below this hardly a sentence fits, and the rest need not be counted.
        if left < 4:
            break
    kept.sort(key=lambda one: one.place)
    while kept and counter.count("\n".join(one.text for one in kept)) > tokens:
        # The count of a whole may pass the sum of its parts; the budget is kept all the same.
        kept.remove(min(kept, key=lambda one: (one.score, one.place)))
    return Summary(text="\n".join(one.text for one in kept), up_to=up_to, by=BY_RULES)


def _sentences(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for sentence in _BORDER.split(message.text[:_MAX_MESSAGE]):
            line = _SPACE.sub(" ", sentence).strip()
            if _WORD.search(line):
                yield f"{message.role}: {line if len(line) <= MAX_SENTENCE else line[: MAX_SENTENCE - 1] + '…'}"


def _score(line: str) -> int:
    speaker = _SPEAKER.match(line)
    said = line[speaker.end() :] if speaker else line
    score = _OF_ROLE.get(Role(speaker[1]), _OTHER_ROLE) if speaker and speaker[1] in set(Role) else 0
    score += 2 * bool(_FIRST_PERSON.search(said)) + 2 * bool(_DECISION.search(said))
    score += bool(_NUMBER.search(said)) + bool(_DATE.search(said)) + bool(_NAME.search(said))
    # A question tells what was asked, seldom what is so; a word or two tells nothing.
    return score - 3 * said.rstrip().endswith(("?", "？")) - 3 * (len(said) < 12)
