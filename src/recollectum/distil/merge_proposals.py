"""Proposes to merge near-duplicate memories, and to replace older ones that newer ones contradict.

It never proposes to forget a memory because it was not used.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from recollectum.distil.reconciliation import adds_detail, current_memories, words_of
from recollectum.distil.rules.corrections import Attribute, attribute_of, contradicts
from recollectum.domain.memory import Memory
from recollectum.domain.proposal import RULES, Act, Finding
from recollectum.domain.trust import least_trusted
from recollectum.policy.duplicates import is_same_time
from recollectum.text.terms.analyser import index_terms
from recollectum.text.terms.similarity import fingerprint

#: The threshold of near-duplicates, in tenths of their terms.
_NEAR_TENTHS = 7


def analyse(memories: Sequence[Memory], recalls: Mapping[str, int] | None = None) -> tuple[Finding, ...]:
    """Return proposals for a person to decide on; `recalls` is how often each memory was recalled."""
    held = sorted((one for one in current_memories(memories) if one.valid_to is None), key=lambda one: one.id)
    used = recalls or {}
    best_first = sorted(held, key=lambda one: (-used.get(one.id, 0), -one.importance, -len(one.content), one.id))
    return (*_merges(best_first, used), *_contradictions(held))


def _merges(best_first: Sequence[Memory], used: Mapping[str, int]) -> Iterator[Finding]:
    """Return groups of near-duplicates, each around the one that is used most."""
    near = _near(best_first)
    taken: set[str] = set()
    for place, memory in enumerate(best_first):
        others = [best_first[other] for other in sorted(near[place]) if best_first[other].id not in taken]
        if memory.id in taken or not others:
            continue
        group = [memory, *others]
        taken.update(one.id for one in group)
        yield _merge(group, used)


def _merge(group: Sequence[Memory], used: Mapping[str, int]) -> Finding:
    best = group[0]
    recalled = sum(used.get(one.id, 0) for one in group)
    return Finding(
        act=Act.MERGE,
        content=best.content,
        kind=best.kind,
        importance=max(one.importance for one in group),
        spans=(),
        targets=tuple(one.id for one in group),
        key=next((one.key for one in group if one.key), None),
        reason=f"{len(group)} memories say nearly the same; together they were recalled {recalled} times",
        trust=least_trusted(*(one.trust for one in group)),
        by=RULES,
    )


def _near(memories: Sequence[Memory]) -> list[set[int]]:
    """Return the indexes of the near-duplicates of each memory.

    Two texts that share seven tenths of their terms share one of the rarest of each, so only those are looked up:
    comparing every pair of some thousand memories would take minutes.
    """
    terms = [frozenset(index_terms(one.content).split()) for one in memories]
    seen = Counter(term for one in terms for term in one)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    near: list[set[int]] = [set() for _ in memories]
    for place, own in enumerate(terms):
        rarest = sorted(own, key=lambda term: (seen[term], term))
        telling = rarest[: len(own) - -(-_NEAR_TENTHS * len(own) // 10) + 1]
        for other in sorted({other for term in telling for other in holders[term]}):
            shared = len(own & terms[other])
            if 10 * shared >= _NEAR_TENTHS * (len(own) + len(terms[other]) - shared) and _may_merge(
                memories[place], memories[other]
            ):
                near[place].add(other)
                near[other].add(place)
        for term in telling:
            holders[term].append(place)
    return near


def _may_merge(one: Memory, other: Memory) -> bool:
    """Return whether nothing would be lost: no key, time, name, number or negation that only one of them has."""
    if one.key and other.key and one.key != other.key:
        return False
    if not is_same_time(one, other.valid_from, other.valid_to) or fingerprint(one.content) == fingerprint(
        other.content
    ):
        return False
    told, known = attribute_of(one.content), attribute_of(other.content)
    if told and known and contradicts(told, known):
        return False
    first, second = words_of(one.content), words_of(other.content)
    return not adds_detail(first, second) and not adds_detail(second, first)


def _contradictions(held: Sequence[Memory]) -> Iterator[Finding]:
    """Return pairs that give the person two values of one attribute: the newer would replace the older."""
    told: defaultdict[str, list[tuple[Memory, Attribute]]] = defaultdict(list)
    for memory in held:
        if attribute := attribute_of(memory.content):
            told[attribute.name].append((memory, attribute))
    for name in sorted(told):
        by_age = sorted(told[name], key=lambda one: (one[0].valid_from or one[0].created_at, one[0].id))
        newest, value = by_age[-1]
        yield from (_supersede(older, newest, name) for older, other in by_age[:-1] if contradicts(other, value))


def _supersede(older: Memory, newer: Memory, name: str) -> Finding:
    return Finding(
        act=Act.SUPERSEDE,
        content=newer.content,
        kind=newer.kind,
        importance=max(older.importance, newer.importance),
        spans=(),
        targets=(older.id,),
        key=newer.key,
        reason=f"two memories give different values for {name}, and the newer one is probably right",
        trust=least_trusted(older.trust, newer.trust),
        by=RULES,
    )
