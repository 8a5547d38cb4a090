"""Reconciling: what was found against what is known."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from recollectum.distil.sameness import alike, words_of
from recollectum.domain.memory import Memory, State
from recollectum.domain.proposal import Act, Finding
from recollectum.text.similarity import fingerprint
from recollectum.text.tokens import estimate

#: How many known memories a model is shown beside a window.
OFFERED = 30
#: What its number and its line add to a memory.
_LINE_TOKENS = 6


def current(known: Sequence[Memory]) -> list[Memory]:
    """The memories that hold now: what was replaced or put away neither hides a fact nor is changed by one."""
    return [one for one in known if one.state is State.ACTIVE and one.superseded_by is None]


def most_similar(known: Sequence[Memory], text: str, most: int = OFFERED) -> list[Memory]:
    """The memories that share most with a text, then the most important ones, the same every time."""
    read = words_of(text).terms

    def near(memory: Memory) -> float:
        telling = words_of(memory.content).telling
        return len(telling & read) / len(telling) if telling else 0.0

    return sorted(known, key=lambda one: (-near(one), -one.importance, one.id))[:most]


def within(memories: Sequence[Memory], tokens: int) -> list[Memory]:
    """As many of the first as fit into so many tokens."""
    ends = accumulate(estimate(one.content) + _LINE_TOKENS for one in memories)
    return [one for one, end in zip(memories, ends, strict=True) if end <= tokens]


def reconciled(findings: Sequence[Finding], known: Sequence[Memory]) -> list[Finding]:
    """The findings that say something new, each once; one that changes a memory which is not there adds."""
    ids = {one.id for one in known}
    said = [(one.id, fingerprint(one.content), words_of(one.content)) for one in known] if findings else []
    kept: list[Finding] = []
    for found in findings:
        finding = found if ids.issuperset(found.targets) else replace(found, act=Act.ADD, targets=())
        own, words = fingerprint(finding.content), words_of(finding.content)
        # What is to change a memory may differ from it by one word, and that word is the point.
        if not any(own == mark or (id not in finding.targets and alike(words, other)) for id, mark, other in said):
            kept.append(finding)
            said.append(("", own, words))
    return kept
