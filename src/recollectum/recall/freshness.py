"""Of several statements of the same thing the newest ranks first. Pure.

Two texts compete when they answer the question with the same words of it and share most of their other words: "I live
in Paris" and "I live in Rome" do, two mentions of Paris in different stories do not. Competitors keep the places they
hold together and only change seats, so nothing else moves.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = 12
SAME = 0.5
#: Who asks how it was before is not served by how it is now.
_PAST = re.compile(
    r"\b(first|original(ly)?|initial(ly)?|used to|previous(ly)?|former(ly)?|before|earliest|old(est)?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One candidate as a statement: when it was made, its terms, and which of them the question asked for."""

    number: int
    created: int
    terms: frozenset[str]
    asked: frozenset[str]


def asks_for_the_past(query: str) -> bool:
    """Whether a question is after what was said before."""
    return _PAST.search(query) is not None


def settle(statements: Sequence[Statement]) -> list[int]:
    """The numbers of the statements, best first, with competitors ordered newest first."""
    order = [one.number for one in statements]
    free = [bool(one.asked) for one in statements]
    for place, one in enumerate(statements):
        if not free[place]:
            continue
        seats = [place] + [
            other for other in range(place + 1, len(statements)) if free[other] and _compete(one, statements[other])
        ]
        newest_first = sorted(((statements[seat].created, statements[seat].number) for seat in seats), reverse=True)
        for seat, (_, number) in zip(seats, newest_first, strict=True):
            order[seat] = number
            free[seat] = False
    return order


def _compete(one: Statement, other: Statement) -> bool:
    if one.asked != other.asked:
        return False
    shared = len(one.terms & other.terms)
    return shared >= SAME * len(one.terms | other.terms)
