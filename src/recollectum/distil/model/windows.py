"""Splits a long conversation into overlapping windows that a model can read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollectum.distil.screening import Screened
from recollectum.domain.message import Role
from recollectum.text.tokens import estimate

#: About this many tokens are read at once.
WINDOW = 6000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message as it is shown, or a part of one that is too long to be shown whole."""

    source: Screened
    start: int
    end: int
    #: False if the previous window showed it, and it is repeated here for context.
    fresh: bool = True

    @property
    def text(self) -> str:
        """Return the shown text."""
        return self.source.text[self.start : self.end]


def windows(said: Sequence[Screened], tokens: int = WINDOW) -> Iterator[tuple[Excerpt, ...]]:
    """Yield the conversation in windows, cut between turns unless a turn is too long; each excerpt is fresh once."""
    pieces = [piece for one in said for piece in _pieces(one, tokens // 2)]
    costs = [estimate(piece.text) for piece in pieces]
    turns = [place for place, piece in enumerate(pieces) if piece.source.message.role is Role.USER and piece.start == 0]
    begin = 0
    while begin < len(pieces):
        end = _reach(costs, begin, tokens)
        if end < len(pieces):
            end = max((turn for turn in turns if begin < turn <= end), default=end)
        lead = _overlap(costs, turns, begin, tokens // 4)
        yield (*(replace(piece, fresh=False) for piece in pieces[lead:begin]), *pieces[begin:end])
        begin = end


def _pieces(one: Screened, tokens: int) -> Iterator[Excerpt]:
    start = 0
    while start < len(one.text):
        end = min(len(one.text), start + 4 * tokens)
        while end - start > 1 and estimate(one.text[start:end]) > tokens:
            end = start + (end - start) // 2
        if end < len(one.text):
            end = _border(one.text, start, end)
        yield Excerpt(one, start, end)
        start = end


def _border(text: str, start: int, end: int) -> int:
    """Return the last position before the end at which a line, a sentence or at least a word ends."""
    middle = (start + end) // 2
    found = (text.rfind(mark, middle, end) + len(mark) for mark in ("\n", ". ", " ") if mark in text[middle:end])
    return next(found, end)


def _reach(costs: Sequence[int], begin: int, tokens: int) -> int:
    end = begin + 1
    spent = costs[begin]
    while end < len(costs) and spent + costs[end] <= tokens:
        spent += costs[end]
        end += 1
    return end


def _overlap(costs: Sequence[int], turns: Sequence[int], begin: int, tokens: int) -> int:
    """Return the start of the turn before a window, if it is short enough to be shown again."""
    before = max((turn for turn in turns if turn < begin), default=begin)
    return before if sum(costs[before:begin]) <= tokens else begin
