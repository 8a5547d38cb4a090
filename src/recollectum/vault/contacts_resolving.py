"""From a few words to one clear contact, or to the question that would make it clear."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollectum.domain.contact import Contact, Outcome, Resolved
from recollectum.domain.trust import Trust
from recollectum.text.contact_relations import RELATIONS, covered, wider
from recollectum.text.contact_words import folded
from recollectum.vault.contacts_joining import Somebody, Told, join

#: Whose word is enough to act on.
TRUSTED = frozenset({Trust.OWNER, Trust.ASSISTANT})
_WORDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*'?")
_ASKING = """
    call phone ring text message write e-mail email mail contact reach send please to at on via my our the a an number
    address handle phone mobile cell whatsapp telegram signal tell ask dial what is new work home private current and
"""
_FILLING = frozenset(_ASKING.split())
_LONGEST_RELATION = 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whom some words may mean: by a name, by a relation, or by both."""

    whole: str
    relation: str | None
    name: str


def resolve(text: str, told: Sequence[Told]) -> Resolved:
    """The one whom the words mean and how to reach them; else what to ask."""
    asked = _parse(text)
    trusted = [one for one in told if one.trust in TRUSTED]
    if not asked.whole:
        return Resolved(outcome=Outcome.NOTHING, question="These words name nobody; say a name or a relation.")
    found = _matching(join(trusted), asked, covered)
    if len(found) == 1:
        return _of_one(found[0], asked, told)
    if found:
        return _which(found)
    near = _matching(join(trusted), asked, wider)
    if near:
        return _question(f"Do you mean {_or(near)}?", near)
    hearsay = _matching(join(told), asked, covered)
    if hearsay:
        return _question(f"Only {_sources(hearsay, told)} tells of {_or(hearsay)}: is it true?", hearsay)
    return Resolved(outcome=Outcome.NOTHING, question="Nothing is known of such a person; who is it?")


def _of_one(somebody: Somebody, asked: _Asked, told: Sequence[Told]) -> Resolved:
    contact = somebody.contact
    if contact.addresses and not somebody.contradictory:
        return Resolved(outcome=Outcome.MATCH, contact=contact, candidates=(contact,))
    if somebody.contradictory:
        listed = ", ".join(_addresses(contact))
        return _question(f"Which of these is right for {contact.described}: {listed}?", [somebody])
    hearsay = [one for one in _matching(join(told), asked, covered) if one.contact.addresses]
    if hearsay:
        return _question(f"Only {_sources(hearsay, told)} has an address: is it that of {_or(hearsay)}?", hearsay)
    return _question(f"No number or address of {contact.described} is known; what is it?", [somebody])


def _which(found: Sequence[Somebody]) -> Resolved:
    names = {one.contact.name for one in found}
    called = f" {names.pop()}" if len(names) == 1 and all(names) else ""
    return _question(f"Which{called}: {_or(found)}?", found)


def _question(text: str, candidates: Sequence[Somebody]) -> Resolved:
    return Resolved(outcome=Outcome.QUESTION, question=text, candidates=tuple(one.contact for one in candidates))


def _or(found: Sequence[Somebody]) -> str:
    return "; or ".join(_told_apart(one.contact) for one in found)


def _told_apart(contact: Contact) -> str:
    reached = ", ".join(_addresses(contact))
    return f"{contact.described} ({reached})" if reached else contact.described


def _addresses(contact: Contact) -> list[str]:
    return [f"{one.address.label} {one.address.written}".strip() for one in contact.addresses]


def _sources(found: Sequence[Somebody], told: Sequence[Told]) -> str:
    """Where it was read, for somebody who has to say whether it is true."""
    named = {memory_id for one in found for memory_id in one.contact.memory_ids}
    doubtful = {(one.trust, one.memory_id) for one in told if one.memory_id in named and one.trust not in TRUSTED}
    return " and ".join(f"{trust} text ({memory_id})" for trust, memory_id in sorted(doubtful))


def _matching(people: Sequence[Somebody], asked: _Asked, reach: Callable[[str], frozenset[str]]) -> list[Somebody]:
    """Everybody whom the words may mean."""
    return [one for one in people if _by_name(one, asked.whole) or _by_relation(one, asked, reach)]


def _by_relation(one: Somebody, asked: _Asked, reach: Callable[[str], frozenset[str]]) -> bool:
    if asked.relation is None or not reach(asked.relation) & set(one.contact.relations):
        return False
    return not asked.name or _by_name(one, asked.name)


def _by_name(one: Somebody, name: str) -> bool:
    """By a whole name, or by the first or last word of one."""
    if " " in name:
        return name in one.names
    return any(name in (whole, *whole.split()[:1], *whole.split()[-1:]) for whole in one.names)


def _parse(text: str) -> _Asked:
    words = [_bare(word) for word in _WORDS.findall(folded(text))]
    named = [one for one in words if one.owns or one.word not in _FILLING]
    # "Anna's number" is about Anna, but "Anna's mother" is not, nor is it about anybody's mother.
    if any(one.owns for one in named[:-1]):
        return _Asked(" ".join(f"{one.word}'s" for one in named), None, "")
    bare = [one.word for one in named]
    for size in range(min(_LONGEST_RELATION, len(bare)), 0, -1):
        relation = RELATIONS.get(" ".join(bare[:size]))
        if relation:
            return _Asked(" ".join(bare), relation, " ".join(bare[size:]))
    return _Asked(" ".join(bare), None, "")


class _Bare(NamedTuple):
    word: str
    #: Whether an apostrophe makes it an owner of what follows.
    owns: bool


def _bare(word: str) -> _Bare:
    return _Bare(word.removesuffix("'s").removesuffix("'"), word.endswith(("'s", "'")))
