"""Links the statements of several memories to one contact each (record linkage).

Unclear statements are kept apart: they lead to a question, and never to a wrong number.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recollectum.domain.contact import Address, AddressKind, Contact, ContactAddress
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.text.contacts.statements import Mention
from recollectum.text.contacts.vocabulary import are_compatible, fold_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactStatement:
    """One statement of one memory."""

    mention: Mention
    memory_id: str
    trust: Trust
    created_at: datetime
    updated_at: datetime
    #: The latest time at which it was said, if it was not changed since it was created.
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedContact:
    """A contact, all its names, and whether its addresses contradict each other."""

    contact: Contact
    names: frozenset[str]
    contradictory: bool


def link_statements(told: Sequence[ContactStatement]) -> list[LinkedContact]:
    """Return all contacts that the statements describe."""
    names = _canonical_names(told)
    groups: dict[str, list[ContactStatement]] = defaultdict(list)
    nameless: dict[tuple[str, ...], list[ContactStatement]] = defaultdict(list)
    for one in told:
        if one.mention.names:
            groups[names[fold_name(one.mention.names[0])]].append(one)
        else:
            nameless[one.mention.relations].append(one)
    people = [person for group in groups.values() for person in _split_group(group)]
    for relations, statements in nameless.items():
        _assign_nameless(people, relations, statements)
    return sorted(
        (_to_linked_contact(person) for person in people), key=lambda one: (one.contact.name, one.contact.memory_ids)
    )


@dataclass(frozen=True, slots=True)
class _Group:
    relations: frozenset[str]
    told: list[ContactStatement]


def _canonical_names(told: Iterable[ContactStatement]) -> Mapping[str, str]:
    """Return, for each name, the name under which its statements are grouped."""
    nicknames: dict[str, set[str]] = defaultdict(set)
    known: set[str] = set()
    for one in told:
        first, *others = map(fold_name, one.mention.names) if one.mention.names else [""]
        known |= {first, *others} - {""}
        for nickname in others:
            nicknames[nickname] |= {first} - {nickname}
    by_nickname = {name: _owner_of_nickname(name, nicknames) for name in known}
    whole = defaultdict[str, set[str]](set)
    for name in by_nickname.values():
        if " " in name:
            whole[name.split()[0]].add(name)
    # "Anna" means Anna Berg when there is no other Anna.
    return {
        name: next(iter(whole[found])) if len(whole.get(found, ())) == 1 else found
        for name, found in by_nickname.items()
    }


def _owner_of_nickname(name: str, nicknames: Mapping[str, set[str]]) -> str:
    """Return the name behind a nickname; a nickname that two contacts have stays as it is."""
    seen = {name}
    while len(whose := nicknames.get(name, set[str]())) == 1:
        (name,) = whose
        if name in seen:
            break
        seen.add(name)
    return name


def _split_group(group: Sequence[ContactStatement]) -> list[_Group]:
    """Return one contact, or several when the relations of one name belong to several people."""
    standing = _current_relations(group)
    parts = _compatible_relations(standing, group)
    if len(parts) <= 1:
        return [_Group(standing, list(group))]
    found = [_Group(part, [one for one in group if part & set(_affirmed_relations(one))]) for part in parts]
    # An address of "Anna" where there are two: it may belong to either, or to a third.
    loose = [one for one in group if not standing & set(_affirmed_relations(one)) and one.mention.addresses]
    return [*found, _Group(frozenset(), loose)] if loose else found


def _affirmed_relations(one: ContactStatement) -> tuple[str, ...]:
    return () if one.mention.relations_over else one.mention.relations


def _current_relations(group: Iterable[ContactStatement]) -> frozenset[str]:
    """Return the relations that no equally new or newer statement has ended."""
    said: dict[str, datetime] = {}
    ended: dict[str, datetime] = {}
    for one in group:
        times = ended if one.mention.relations_over else said
        for relation in one.mention.relations:
            times[relation] = max(one.updated_at, times.get(relation, one.updated_at))
    return frozenset(word for word, at in said.items() if word not in ended or ended[word] < at)


def _compatible_relations(relations: frozenset[str], group: Iterable[ContactStatement]) -> list[frozenset[str]]:
    """Split the relations into groups that can each belong to one person."""
    together = [set(_affirmed_relations(one)) & relations for one in group]
    parts: list[set[str]] = []
    for relation in sorted(relations):
        near = {
            other
            for other in relations
            if are_compatible(relation, other) or any({relation, other} <= said for said in together)
        }
        touching = [part for part in parts if part & near]
        parts = [part for part in parts if not part & near]
        parts.append(near.union(*touching))
    return [frozenset(part) for part in parts]


def _assign_nameless(people: list[_Group], relations: tuple[str, ...], statements: Sequence[ContactStatement]) -> None:
    """Assign statements about "my boss" to the one boss of that time; keep the others as separate contacts."""
    wanted = frozenset(relations)
    holders = [person for person in people if wanted & person.relations]
    alone: list[ContactStatement] = []
    for one in statements:
        if len(holders) == 1 and _was_known(holders[0], wanted, one):
            holders[0].told.append(one)
        else:
            alone.append(one)
    if alone:
        people.append(_Group(wanted, alone))


def _was_known(person: _Group, relations: frozenset[str], one: ContactStatement) -> bool:
    """Return whether the person already had the relation; otherwise the number may belong to the predecessor."""
    times = [told.since for told in person.told if told.mention.names and relations & set(_affirmed_relations(told))]
    return any(at <= one.created_at for at in times)


def _to_linked_contact(person: _Group) -> LinkedContact:
    name, *nicknames = _written_names(person.told) or [""]
    addresses, contradictory = _addresses(person.told)
    contact = Contact(
        name=name,
        nicknames=tuple(nicknames),
        relations=tuple(sorted(person.relations)),
        addresses=addresses,
        memory_ids=tuple(sorted({one.memory_id for one in person.told})),
    )
    names = {fold_name(written) for one in person.told for written in one.mention.names}
    return LinkedContact(contact=contact, names=frozenset(names), contradictory=contradictory)


def _written_names(told: Iterable[ContactStatement]) -> list[str]:
    """Return the name, the longest full name first, then the others; capitalised where a capital was used."""
    firsts = {one.mention.names[0] for one in told if one.mention.names}
    others = {name for one in told for name in one.mention.names} - firsts
    ranked = [*_ranked(firsts), *_ranked(others)]
    return list({fold_name(name): name for name in reversed(ranked)}.values())[::-1]


def _ranked(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name.split()), name.islower(), name))


def _addresses(told: Sequence[ContactStatement]) -> tuple[tuple[ContactAddress, ...], bool]:
    """Return the current addresses, and whether two of them conflict."""
    over = [(address, one) for one in told if one.mention.addresses_over for address in one.mention.addresses]
    said = [(address, one) for one in told if not one.mention.addresses_over for address in one.mention.addresses]
    changed = [one for one in told if one.mention.renumbered]
    kept = [
        (address, one)
        for address, one in said
        if not any(_ends(address, one, *end) for end in over) and not _outdated(address, one, changed)
    ]
    places: dict[tuple[str, str], dict[str, list[tuple[Address, ContactStatement]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for address, one in kept:
        places[address.kind, address.label][address.value].append((address, one))
    found: list[ContactAddress] = []
    contradictory = False
    for _, values in sorted(places.items()):
        newest = [
            max(tellings, key=lambda pair: (pair[1].updated_at, pair[1].memory_id)) for tellings in values.values()
        ]
        left = [pair for pair in newest if not any(_replaces(other[1], pair[1]) for other in newest)]
        contradictory = contradictory or len(left) > 1
        found += [ContactAddress(address=address, memory_id=one.memory_id, trust=one.trust) for address, one in left]
    return tuple(sorted(found, key=lambda one: (one.address.kind, one.address.label, one.address.value))), contradictory


def _ends(address: Address, said: ContactStatement, over: Address, ended: ContactStatement) -> bool:
    return (address.kind, address.value) == (over.kind, over.value) and ended.updated_at >= said.updated_at


def _outdated(address: Address, said: ContactStatement, changed: Iterable[ContactStatement]) -> bool:
    """Return whether a number was given before somebody said that there is another."""
    return address.kind is AddressKind.PHONE and any(one.updated_at >= said.created_at for one in changed)


def _replaces(newer: ContactStatement, older: ContactStatement) -> bool:
    """Return whether both its times are newer: a statement that was only touched later may be the older one."""
    return newer.created_at > older.created_at and newer.updated_at > older.updated_at
