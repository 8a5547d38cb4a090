"""Orders statements about the same thing by time: newest first, or as a question about the past asks for.

Two statements compete if they say the same of the same subject and differ in the value: they have the same *frame*,
which is what both begin and end with, and the frame has the words that the question asked for. Statements in other
words compete if they match the question nearly equally well.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from recollectum.domain.records import dataclass
from recollectum.text.terms.analyser import QueryTerm
from recollectum.text.terms.stopwords import STOP_WORDS

#: The number of best candidates that are compared with each other.
RECENCY_HEAD = 12
#: The share of the shorter statement that the frame must have.
SAME_FRAME = 0.5
#: The share of all their terms that two longer texts, or two turns of a conversation, must have in common.
SAME_TOPIC = 0.5
#: A statement has at most so many words; a longer text says more than one thing.
LONGEST_STATEMENT = 40
#: How far the cosine of a statement may be behind that of a better one, in standard deviations of the candidates: where
#: the frame is no more than the subject, and where the frames differ.
FRAME_GAP = 1.0
REWORDED_GAP = 0.4
#: What a statement gains for the whole names of the question among statements, in the same unit.
WHOLE_NAME_WEIGHT = 1.0
#: Words that announce a change and are no part of what is said.
_NOW = frozenset(["actually", "again", "currently", "instead", "meanwhile", "now", "nowadays", "presently"])
#: Values often begin with one of these. Where two values begin with other function words, as in "works for" and
#: "works as", the relations differ.
_DETERMINERS = frozenset(
    {"a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "der", "die", "das", "den", "ein", "eine"}
    | {"le", "la", "les", "un", "une", "el", "los", "las", "il", "lo", "gli"}
)
_FUNCTION_WORDS = STOP_WORDS - _DETERMINERS

_BEGINNING = re.compile(r"\b(first|original(ly)?|initial(ly)?|earliest)\b", re.IGNORECASE)
_EARLIER = re.compile(r"\b(used to|previous(ly)?|former(ly)?)\b|\b(before|earlier)\W*$", re.IGNORECASE)
_OTHER_PAST = re.compile(r"\b(before|(?<!how )(?<!years )old|oldest)\b", re.IGNORECASE)
#: "Who is the original publisher?" asks for what holds now, "Who was the original publisher?" for the beginning.
_LASTING = re.compile(r"\b(is|are)\b.*\b(first|original|initial) \w", re.IGNORECASE)
_PAST_TENSE = re.compile(r"\b(was|were|did|had)\b", re.IGNORECASE)
#: "Which pets", "what are", "everything": a question in the plural asks for all that holds at once.
_SEVERAL = re.compile(
    r"\b(?:what|which|who) (?:are|were)\b|\b(?:list|everything|every|all)\b"
    r"|\b(?:which|what|how many) (?:of )?(?:the |my )?(?!does\b|was\b|has\b|this\b)\w+[^\Ws]s\b",
    re.IGNORECASE,
)


class TimeOrder(StrEnum):
    """The order of competing statements that a question asks for."""

    NEWEST = "newest"
    OLDEST = "oldest"
    #: What held before the present value: the newest comes last.
    EARLIER = "earlier"
    #: The question is about the past, but does not say which part of it.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The terms of a question, and those of them that belong to a name."""

    terms: frozenset[str]
    names: frozenset[str]
    #: Whether it asks for several things that hold at once.
    several: bool = False


class DatedStatement(NamedTuple):
    """One candidate as a statement: its time, its words in order, and how well it matches the question."""

    number: int
    created: int
    #: When it was last said again or edited.
    updated: int
    words: tuple[str, ...]
    #: Those of its words that the question asked for.
    asked: frozenset[str]
    score: float = 0.0
    #: Its cosine with the question, in standard deviations of the candidates; None when it has no vector.
    nearness: float | None = None
    #: Whether it is a turn of a conversation.
    turn: bool = False
    #: Whether it has each name of the question whole, and not as a part of a longer name.
    whole: bool = False
    #: Whether it could be the person's own text.
    own: bool = True

    @property
    def is_single(self) -> bool:
        """Return whether it is short and written, so that it says one thing."""
        return not self.turn and len(self.words) <= LONGEST_STATEMENT


def asked_words(query: str, terms: Iterable[QueryTerm]) -> AskedWords:
    """Return the words of the terms of a question; names are those that begin with a capital letter."""
    every = list(terms)
    names = [one for one in every if one.word[:1].isupper()]
    return AskedWords(_words_of(every), _words_of(names), bool(_SEVERAL.search(query)))


def time_order(query: str) -> TimeOrder:
    """Return the order that a question asks for."""
    if _EARLIER.search(query):
        return TimeOrder.EARLIER
    if _BEGINNING.search(query):
        lasting = _LASTING.search(query) and not _PAST_TENSE.search(query)
        return TimeOrder.NEWEST if lasting else TimeOrder.OLDEST
    return TimeOrder.UNKNOWN if _OTHER_PAST.search(query) else TimeOrder.NEWEST


def statement_words(terms: str) -> tuple[str, ...]:
    """Return the index terms of a text in order, without words that only announce a change."""
    words = terms.split()
    return tuple(words if _NOW.isdisjoint(words) else [word for word in words if word not in _NOW])


def prefer_whole_names(statements: Sequence[DatedStatement]) -> list[int]:
    """Return the numbers of the statements, best first, where one with whole names gains on other single statements."""
    if not any(one.whole for one in statements):
        return [one.number for one in statements]
    places = [place for place, one in enumerate(statements) if one.is_single and one.asked]
    gained = sorted(places, key=lambda place: -statements[place].score - WHOLE_NAME_WEIGHT * statements[place].whole)
    numbers = [one.number for one in statements]
    for place, better in zip(places, gained, strict=True):
        numbers[place] = statements[better].number
    return numbers


def order_by_recency(
    statements: Sequence[DatedStatement], asked: AskedWords, order: TimeOrder = TimeOrder.NEWEST
) -> list[int]:
    """Return the numbers of the statements, best first, with competitors in the order of time that is asked for.

    Competitors share the places that they have together; every other statement keeps its place.
    """
    numbers = [one.number for one in statements]
    if order is TimeOrder.UNKNOWN:
        return numbers
    free = [bool(one.asked) for one in statements]
    # Made once: a statement may be compared with many others.
    terms: dict[int, frozenset[str]] = {}
    for place, one in enumerate(statements):
        if not free[place]:
            continue
        others = [
            other
            for other in range(place + 1, len(statements))
            if free[other] and _compete(one, statements[other], asked, terms)
        ]
        if not others:
            continue
        places = [place, *others]
        for seat, number in zip(places, _REORDER[order]([statements[seat] for seat in places]), strict=True):
            numbers[seat] = number
            free[seat] = False
    return numbers


def _newest_first(statements: Iterable[DatedStatement]) -> list[int]:
    return [number for _, number in sorted([(one.updated, one.number) for one in statements], reverse=True)]


def _oldest_first(statements: Iterable[DatedStatement]) -> list[int]:
    return [number for _, number in sorted([(one.created, one.number) for one in statements])]


def _newest_last(statements: Iterable[DatedStatement]) -> list[int]:
    newest, *earlier = _newest_first(statements)
    return [*earlier, newest]


_REORDER: dict[TimeOrder, Callable[[Iterable[DatedStatement]], list[int]]] = {
    TimeOrder.NEWEST: _newest_first,
    TimeOrder.OLDEST: _oldest_first,
    TimeOrder.EARLIER: _newest_last,
}


#: The words of statements by number, as far as they were needed.
_Terms = dict[int, frozenset[str]]


def _compete(better: DatedStatement, other: DatedStatement, asked: AskedWords, terms: _Terms) -> bool:
    """Return whether two statements say the same of the same subject, with another value."""
    if better.asked.isdisjoint(other.asked) or (better.own and not other.own):
        # What a fetched page says later does not take the place of what the person said.
        return False
    if not better.is_single or not other.is_single:
        return _same_topic(better, other, terms)
    if better.whole != other.whole:
        return False
    begin, end = _frame(better.words, other.words)
    if begin + end < SAME_FRAME * min(len(better.words), len(other.words)):
        return _match_equally(better, other, asked, terms)
    if _other_relation(better.words, other.words, begin, end):
        return False
    frame = frozenset(better.words[:begin] + better.words[len(better.words) - end :])
    if not (asked.names or asked.terms).isdisjoint((better.asked | other.asked) - frame):
        # Much the same is said of another subject.
        return False
    return _has_relation(frame, asked) or _gap(better, other) <= FRAME_GAP


def _has_relation(frame: frozenset[str], asked: AskedWords) -> bool:
    """Return whether a frame says more than who or what it is about."""
    if asked.names:
        return not frame - asked.names <= STOP_WORDS
    return asked.terms <= frame or not frame - asked.terms <= STOP_WORDS


def _same_topic(one: DatedStatement, other: DatedStatement, terms: _Terms) -> bool:
    if one.asked != other.asked:
        return False
    for statement in (one, other):
        if statement.number not in terms:
            terms[statement.number] = frozenset(statement.words)
    mine, its = terms[one.number], terms[other.number]
    shared = len(mine & its)
    return shared >= SAME_TOPIC * (len(mine) + len(its) - shared)


def _match_equally(better: DatedStatement, other: DatedStatement, asked: AskedWords, terms: _Terms) -> bool:
    """Return whether both have the same words of the question, or all its names, and are about as near to it."""
    if better.nearness is None or other.nearness is None:
        return _same_topic(better, other, terms)
    named = asked.names and asked.names <= better.asked & other.asked
    if asked.several or (better.asked != other.asked and not named):
        return False
    return _gap(better, other) <= REWORDED_GAP


def _gap(better: DatedStatement, other: DatedStatement) -> float:
    return 0.0 if better.nearness is None or other.nearness is None else better.nearness - other.nearness


def _frame(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many words both begin with, and how many of the rest they end with."""
    begin = _shared(one, other)
    return begin, _shared(one[begin:][::-1], other[begin:][::-1])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        count += 1
    return count


def _other_relation(one: Sequence[str], other: Sequence[str], begin: int, end: int) -> bool:
    """Return whether what differs begins with two function words: "works [for Bosch]" and "works [as a pilot]"."""
    return begin + end < min(len(one), len(other)) and {one[begin], other[begin]} <= _FUNCTION_WORDS


def _words_of(terms: Iterable[QueryTerm]) -> frozenset[str]:
    return frozenset(word for term in terms for word in term.term.split())
