"""Resolves words such as "my girlfriend" to one contact, or returns the question that would make them clear."""

import builtins
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from recollectum.domain.access.caller import Scope
from recollectum.domain.contact import Contact, Outcome, Resolved
from recollectum.domain.memory import Memory
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import is_current
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memory_pages
from recollectum.text.cleaning import clean
from recollectum.text.contacts.statements import find_mentions
from recollectum.text.contacts.vocabulary import RELATIONS, broader_relations, fold_name, narrower_relations
from recollectum.vault.contacts.linkage import ContactStatement, LinkedContact, link_statements
from recollectum.vault.gate import operation
from recollectum.vault.service import VaultService

#: Trust levels that are high enough to act on.
TRUSTED_LEVELS = frozenset({Trust.OWNER, Trust.ASSISTANT})
_WORDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*'?")
_FILLER_WORDS = """
    call phone ring text message write e-mail email mail contact reach send please to at on via my our the a an number
    address handle phone mobile cell whatsapp telegram signal tell ask dial what is new work home private current and
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_LONGEST_RELATION = 3
#: So many memories without a contact are marked, so that they are read once; fewer are not worth a write.
_MANY_SILENT = 500
_MARKED_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class _ContactQuery:
    """Whom some words may mean: by name, by relation, or by both."""

    whole: str
    relation: str | None
    name: str


def resolve_contact(text: str, told: Sequence[ContactStatement]) -> Resolved:
    """Return the one contact that the words mean, with addresses; else the question to ask."""
    asked = _parse_query(text)
    trusted = [one for one in told if one.trust in TRUSTED_LEVELS]
    if not asked.whole:
        return Resolved(outcome=Outcome.NOTHING, question="No person is named; give a name or a relation.")
    found = _matching(link_statements(trusted), asked, narrower_relations)
    if len(found) == 1:
        return _resolution_of(found[0], asked, told)
    if found:
        return _distinguish(found)
    near = _matching(link_statements(trusted), asked, broader_relations)
    if near:
        return _question(f"Do you mean {_join_with_or(near)}?", near)
    hearsay = _matching(link_statements(told), asked, narrower_relations)
    if hearsay:
        return _question(f"Only {_sources(hearsay, told)} mentions {_join_with_or(hearsay)}: is it true?", hearsay)
    return Resolved(outcome=Outcome.NOTHING, question="No such person is known; who is it?")


def _resolution_of(somebody: LinkedContact, asked: _ContactQuery, told: Sequence[ContactStatement]) -> Resolved:
    contact = somebody.contact
    if contact.addresses and not somebody.contradictory:
        return Resolved(outcome=Outcome.MATCH, contact=contact, candidates=(contact,))
    if somebody.contradictory:
        listed = ", ".join(_addresses(contact))
        return _question(f"Which of these is right for {contact.described}: {listed}?", [somebody])
    hearsay = [one for one in _matching(link_statements(told), asked, narrower_relations) if one.contact.addresses]
    if hearsay:
        return _question(
            f"Only {_sources(hearsay, told)} has an address: is it that of {_join_with_or(hearsay)}?", hearsay
        )
    return _question(f"No number or address of {contact.described} is known; what is it?", [somebody])


def _distinguish(found: Sequence[LinkedContact]) -> Resolved:
    names = {one.contact.name for one in found}
    called = f" {names.pop()}" if len(names) == 1 and all(names) else ""
    return _question(f"Which{called}: {_join_with_or(found)}?", found)


def _question(text: str, candidates: Sequence[LinkedContact]) -> Resolved:
    return Resolved(outcome=Outcome.QUESTION, question=text, candidates=tuple(one.contact for one in candidates))


def _join_with_or(found: Sequence[LinkedContact]) -> str:
    return "; or ".join(_describe(one.contact) for one in found)


def _describe(contact: Contact) -> str:
    reached = ", ".join(_addresses(contact))
    return f"{contact.described} ({reached})" if reached else contact.described


def _addresses(contact: Contact) -> list[str]:
    return [f"{one.address.label} {one.address.written}".strip() for one in contact.addresses]


def _sources(found: Sequence[LinkedContact], told: Sequence[ContactStatement]) -> str:
    """Return the memories it was read from, for a person who must confirm it."""
    named = {memory_id for one in found for memory_id in one.contact.memory_ids}
    doubtful = {
        (one.trust, one.memory_id) for one in told if one.memory_id in named and one.trust not in TRUSTED_LEVELS
    }
    return " and ".join(f"{trust} text ({memory_id})" for trust, memory_id in sorted(doubtful))


def _matching(
    people: Sequence[LinkedContact], asked: _ContactQuery, reach: Callable[[str], frozenset[str]]
) -> list[LinkedContact]:
    """Return all contacts that the words may mean."""
    return [one for one in people if _by_name(one, asked.whole) or _by_relation(one, asked, reach)]


def _by_relation(one: LinkedContact, asked: _ContactQuery, reach: Callable[[str], frozenset[str]]) -> bool:
    if asked.relation is None or not reach(asked.relation) & set(one.contact.relations):
        return False
    return not asked.name or _by_name(one, asked.name)


def _by_name(one: LinkedContact, name: str) -> bool:
    """Return whether a contact has the name: in full, or as its first or last word."""
    if " " in name:
        return name in one.names
    return any(name in (whole, *whole.split()[:1], *whole.split()[-1:]) for whole in one.names)


def _parse_query(text: str) -> _ContactQuery:
    words = [_strip_word(word) for word in _WORDS.findall(fold_name(text))]
    named = [one for one in words if one.owns or one.word not in _FILLERS]
    # "Anna's number" is about Anna; "Anna's mother" is about neither Anna nor the owner's mother.
    if any(one.owns for one in named[:-1]):
        return _ContactQuery(" ".join(f"{one.word}'s" for one in named), None, "")
    bare = [one.word for one in named]
    for size in range(min(_LONGEST_RELATION, len(bare)), 0, -1):
        relation = RELATIONS.get(" ".join(bare[:size]))
        if relation:
            return _ContactQuery(" ".join(bare), relation, " ".join(bare[size:]))
    return _ContactQuery(" ".join(bare), None, "")


class _BareWord(NamedTuple):
    word: str
    #: Whether an apostrophe makes the word a possessive.
    owns: bool


def _strip_word(word: str) -> _BareWord:
    return _BareWord(word.removesuffix("'s").removesuffix("'"), word.endswith(("'s", "'")))


class Contacts(VaultService):
    """The people that one vault's memories describe. Messages that were never saved as memories are not used."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def resolve(self, text: str) -> Resolved:
        """Resolve a name, nickname or relation: one clear match with addresses, a question, or nothing known.

        An address known only from a tool, an import or an unknown source leads to a question, never to a match.
        """
        return resolve_contact(clean(text), self._load())

    @operation(Action.MEMORY_READ, Scope.USER)
    def list(self) -> builtins.list[Contact]:
        """Return all contacts by name, from every source; each address carries its trust."""
        return [one.contact for one in link_statements(self._load())]

    def _load(self) -> builtins.list[ContactStatement]:
        told, silent = self._runtime.read(_load_statements)
        if len(silent) >= _MANY_SILENT:
            # Of memories that were saved before the mark existed; later ones get theirs when they are saved.
            for start in range(0, len(silent), _MARKED_AT_ONCE):
                part = silent[start : start + _MARKED_AT_ONCE]
                self._runtime.write(lambda tx, _, part=part: memory_pages.mark_without_contacts(tx, part))
        return told


def _load_statements(tx: Tx, reading: ClockReading) -> tuple[list[ContactStatement], list[tuple[int, int]]]:
    """Return what memories say of contacts, and the row number and version of those that say nothing."""
    told: list[ContactStatement] = []
    silent: list[tuple[int, int]] = []
    for number, memory in memory_pages.about_people(tx):
        statements = list(_statements(memory))
        if not statements:
            silent.append((number, memory.version))
        elif _is_true_now(memory, reading):
            told += statements
    return told, silent


def _is_true_now(memory: Memory, reading: ClockReading) -> bool:
    """Return whether a memory is active and valid now."""
    if not is_current(memory, reading):
        return False
    begun = memory.valid_from is None or memory.valid_from <= reading.now
    return begun and (memory.valid_to is None or memory.valid_to > reading.now)


def _statements(memory: Memory) -> Iterator[ContactStatement]:
    for mention in find_mentions(memory.content, memory.key):
        yield ContactStatement(
            mention=mention,
            memory_id=memory.id,
            trust=memory.trust,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            since=memory.created_at if memory.version == 1 else memory.updated_at,
        )
