"""Recognises a new value for an attribute of a person, and the known memory that it corrects."""

import re
from collections.abc import Sequence
from functools import cache

from recollectum.distil.reconciliation import words_of
from recollectum.distil.rules.statements import is_unsure
from recollectum.distil.sentences import Sentence
from recollectum.domain.memory import Memory
from recollectum.domain.records import dataclass

_WHO = r"(?:(?:I|we|the (?:person|user|owner)|they|user)\s+|\A)(?:now\s+|currently\s+|actually\s+|also\s+|just\s+)?"
_END = (
    r"(?P<value>(?:[^.,;!?\n]|\.(?=\S))+?)(?:\s+(?:now|currently|these days|instead))?"
    r"(?=[.,;!?\n]|\s+(?:and|but|since|because)\b|\Z)"
)
#: Attributes of which everybody has one; a wife "is" many things, but has one name.
_NOUNS = (
    r"favou?rite [\w ]{2,30}?|name|nickname|birthday|date of birth|age|e-?mail(?: address)?|phone(?: number)?|address"
    r"|home ?town|occupation|employer|time ?zone|pronouns|height|blood type|(?:native|first) language|nationality"
    r"|(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mum|mom|father|dad)'s name"
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the person, and its value as it was said."""

    name: str
    value: str


_LIVING = "(?:am |are |is )?(?:live|lives|living|reside|resides|based)|(?:have |has )?moved"
_RULES = (
    ("home", rf"{_WHO}(?:{_LIVING}) (?:in|at|to) {_END}"),
    ("home", rf"\bI(?:'m (?:living|based) in|'ve (?:just )?moved to) {_END}"),
    ("employer", rf"{_WHO}(?:work|works|working) (?:at|for) (?!home\b|night|myself\b|an? ){_END}"),
    ("occupation", rf"{_WHO}(?:work|works|working) as (?:an? )?{_END}"),
    ("age", rf"(?:\bI(?:'m| am)|{_WHO}(?:is|are)) (?P<value>\d{{1,3}})(?: years? old)?(?=[.,;!]|\s+and\b|\Z)"),
    ("name", rf"(?:call me|(?:\bI|they|person|user) goe?s? by) {_END}"),
    ("", rf"\b(?:my|our|their)\s+(?:new |current )?(?P<name>{_NOUNS})\s+(?:is|are)(?: now)? {_END}"),
)


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the rules; compile them on first use, because most programs never need them."""
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _RULES)


#: A statement that gives one value is short; a longer text is a document.
_LONGEST = 500


def attribute_of(text: str) -> Attribute | None:
    """Return the attribute that a statement gives a value to; None if it gives none, or negates it."""
    if len(text) > _LONGEST or words_of(text).turns:
        return None
    for name, pattern in _rules():
        if found := pattern.search(text):
            named = name or _plain(found["name"])
            return Attribute(named, found["value"].strip())
    return None


def contradicts(one: Attribute, other: Attribute) -> bool:
    """Return whether two values exclude each other: "Oslo" and "Oslo, Norway" do not, "Oslo" and "Bergen" do."""
    first, second = words_of(one.value).terms, words_of(other.value).terms
    return one.name == other.name and bool(first) and bool(second) and not first <= second and not second <= first


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("favour", "favor").split())


_VALUE = r"[^.,;!?\n]{1,60}?"
_NOT_BUT = re.compile(
    rf"(?:no[,.]? )?(?:it's|it is|that's|i'm|i am)?\s*not (?:in |at |a |an |the )?(?P<old>{_VALUE})(?:,? but|, it's|,) "
    rf"(?:in |at |a |an |the )?(?P<new>{_VALUE})[.!]*\Z",
    re.IGNORECASE,
)
_NO_ITS = re.compile(
    r"(?:no|nope|actually|sorry|wrong)[,.!]? (?:it's|it is|that's|it should be) (?:now |actually )?"
    rf"(?P<new>{_VALUE})[.!]*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory that no longer holds, and its replacement."""

    memory: Memory
    content: str


def replaced(content: str, known: Sequence[Memory]) -> Memory | None:
    """Return the only known memory that has another value of the same attribute than a new statement."""
    told = attribute_of(content)
    if told is None:
        return None
    held = [(one, attribute_of(one.content)) for one in known]
    found = [one for one, attribute in held if attribute and contradicts(told, attribute)]
    return found[0] if len(found) == 1 else None


def correction(sentence: Sentence, before: str, known: Sequence[Memory]) -> Correction | None:
    """Return the correction in a "no, it's …" or "not this but that"; `before` is the assistant's last message."""
    text = sentence.text.replace("’", "'")
    if is_unsure(text):
        return None
    if found := _NOT_BUT.match(text):
        old, new = found["old"], found["new"]
        return _only([one for one in known if _whole(old).search(one.content)], old, new)
    if found := _NO_ITS.match(text):
        return _answered(before, found["new"], known)
    return None


def _answered(before: str, new: str, known: Sequence[Memory]) -> Correction | None:
    """Return the correction if the assistant used one known value and the answer gives another."""
    held = [(one, attribute_of(one.content)) for one in known]
    given = [(one, told.value) for one, told in held if told and _whole(told.value).search(before)]
    return _only([given[0][0]], given[0][1], new) if len(given) == 1 else None


def _only(found: Sequence[Memory], old: str, new: str) -> Correction | None:
    # With two candidates, only the person knows which is meant.
    if len(found) != 1 or old.casefold() == new.casefold():
        return None
    return Correction(found[0], _whole(old).sub(lambda _: new, found[0].content))


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
