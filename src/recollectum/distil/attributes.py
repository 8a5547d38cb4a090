"""Attributes: statements that give a person's one value of something, such as where they live."""

import re
from dataclasses import dataclass
from functools import cache

from recollectum.distil.sameness import words_of

_WHO = r"(?:(?:I|we|the (?:person|user|owner)|they|user)\s+|\A)(?:now\s+|currently\s+|actually\s+|also\s+|just\s+)?"
_END = (
    r"(?P<value>(?:[^.,;!?\n]|\.(?=\S))+?)(?:\s+(?:now|currently|these days|instead))?"
    r"(?=[.,;!?\n]|\s+(?:and|but|since|because)\b|\Z)"
)
#: What everybody has one of; a wife "is" many things, but has one name.
_NOUNS = (
    r"favou?rite [\w ]{2,30}?|name|nickname|birthday|date of birth|age|e-?mail(?: address)?|phone(?: number)?|address"
    r"|home ?town|occupation|employer|time ?zone|pronouns|height|blood type|(?:native|first) language|nationality"
    r"|(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mum|mom|father|dad)'s name"
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What is told of the person, and its value as it was said."""

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
    """The rules, made when they are first needed: most programs never do."""
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _RULES)


def attribute_of(text: str) -> Attribute | None:
    """The attribute that a statement gives the person a value of; None where it gives none, or denies it."""
    if words_of(text).turns:
        return None
    for name, pattern in _rules():
        if found := pattern.search(text):
            named = name or _plain(found["name"])
            return Attribute(named, found["value"].strip())
    return None


def contradicts(one: Attribute, other: Attribute) -> bool:
    """Whether two values cannot both hold: "Oslo" and "Oslo, Norway" can, "Oslo" and "Bergen" cannot."""
    first, second = words_of(one.value).terms, words_of(other.value).terms
    return one.name == other.name and bool(first) and bool(second) and not first <= second and not second <= first


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("favour", "favor").split())
