"""Proposes to merge near-duplicate memories, and to replace older ones that newer ones contradict.

It never proposes to forget a memory because it was not used.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from recollectum.distil.reconciliation import Words, adds_detail, current_memories, words_of
from recollectum.distil.rules.corrections import Attribute, attribute_of, contradicts
from recollectum.domain.memory import Memory
from recollectum.domain.proposal import RULES, Act, Finding
from recollectum.domain.trust import least_trusted
from recollectum.policy.duplicates import is_same_time
from recollectum.text.terms.analyser import index_terms
from recollectum.text.terms.similarity import fingerprint

#: The threshold of near-duplicates, in tenths of their terms.
_NEAR_TENTHS = 7
#: Each memory is compared with at most so many others.
_MOST_COMPARED = 64


def analyse(memories: Sequence[Memory], recalls: Mapping[str, int] | None = None) -> tuple[Finding, ...]:
    """Return proposals for a person to decide on; `recalls` is how often each memory was recalled."""
    held = sorted((one for one in current_memories(memories) if one.valid_to is None), key=lambda one: one.id)
    used = recalls or {}
    best_first = sorted(held, key=lambda one: (-used.get(one.id, 0), -one.importance, -len(one.content), one.id))
    return (*_merges(best_first, used), *_contradictions(held))


def _merges(best_first: Sequence[Memory], used: Mapping[str, int]) -> Iterator[Finding]:
    """Return groups of near-duplicates, each around the one that is used most."""
    for group in _groups([_Text(one) for one in best_first]):
        if len(group) > 1:
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


class _Text:
    """A memory, with what comparisons need of its text; each part is computed once."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.terms = frozenset(index_terms(memory.content).split())

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.memory.content)

    @cached_property
    def attribute(self) -> Attribute | None:
        return attribute_of(self.memory.content)

    @cached_property
    def words(self) -> Words:
        return words_of(self.memory.content)


def _groups(texts: Sequence[_Text]) -> list[list[Memory]]:
    """Return the memories in groups: each joins the first group whose first memory is near it, or begins one.

    Two texts that share seven tenths of their terms share one of the rarest of each, so only those are looked up. Where
    many texts share those too, only the first few are compared: the work grows with the number of memories, not with
    its square.
    """
    seen = Counter(term for one in texts for term in one.terms)
    groups: list[list[Memory]] = []
    firsts: list[_Text] = []
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for text in texts:
        rarest = sorted(text.terms, key=lambda term: (seen[term], term))
        telling = rarest[: len(rarest) - -(-_NEAR_TENTHS * len(rarest) // 10) + 1]
        nearest = next((at for at in _candidates(telling, holders) if _is_near(text, firsts[at])), None)
        if nearest is not None:
            groups[nearest].append(text.memory)
            continue
        for term in telling:
            if len(holders[term]) < _MOST_COMPARED:
                holders[term].append(len(firsts))
        firsts.append(text)
        groups.append([text.memory])
    return groups


def _candidates(telling: Sequence[str], holders: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the groups that share a telling term, of too many those that share the rarest; in their order."""
    found: set[int] = set()
    for term in telling:
        found.update(holders.get(term, ())[: _MOST_COMPARED - len(found)])
        if len(found) == _MOST_COMPARED:
            break
    return sorted(found)


def _is_near(one: _Text, other: _Text) -> bool:
    """Return whether two texts share most of their terms, and one can stand for both."""
    shared = len(one.terms & other.terms)
    union = len(one.terms) + len(other.terms) - shared
    return 10 * shared >= _NEAR_TENTHS * union and _may_merge(one, other)


def _may_merge(one: _Text, other: _Text) -> bool:
    """Return whether nothing would be lost: no key, time, name, number or negation that only one of them has."""
    if one.memory.key and other.memory.key and one.memory.key != other.memory.key:
        return False
    same_time = is_same_time(one.memory, other.memory.valid_from, other.memory.valid_to)
    if not same_time or one.fingerprint == other.fingerprint:
        return False
    if one.attribute and other.attribute and contradicts(one.attribute, other.attribute):
        return False
    return not adds_detail(one.words, other.words) and not adds_detail(other.words, one.words)


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
