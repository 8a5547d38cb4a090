"""Fills each part of a context, item by item, up to its share of the token budget."""

from collections.abc import Callable, Container, Sequence
from dataclasses import field
from functools import partial

from recollectum.context.fences import quote_lines
from recollectum.context.rendering import TRUSTED, bullet, frame, line, recalled
from recollectum.domain.context import Budget, LeftOut, PartKind, RecalledText
from recollectum.domain.records import dataclass
from recollectum.domain.session import Summary

NO_ROOM = "its share of the token budget is used up"
#: No ordinary text has this many characters in a token; a longer text is not counted at all.
LONGEST_TOKEN = 32
#: After this many misfits in a row, the rest is not counted.
PASSED_OVER = 8
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """An item that is included whole or not at all."""

    id: str
    #: Rendered on first use: of thousands of items, only the first few are rendered.
    render: Callable[[], str]
    #: The raw text, before it is rendered.
    words: str
    untrusted: bool = False


@dataclass(slots=True, kw_only=True)
class PartFiller:
    """One part of a context while it is filled."""

    kind: PartKind
    frame: tuple[str, str]
    pieces: Sequence[ContextItem]
    most: int
    #: The ids of items after the pieces that are not considered.
    others: Sequence[str] = ()
    most_untrusted: int = 0
    #: Whether a piece that does not fit ends the part, as a line of a text does, or is skipped.
    in_order: bool = True
    taken: dict[int, str] = field(default_factory=dict[int, str])
    spent: int = 0
    #: Items to leave out because they are elsewhere in the context; by id, with the reason.
    withheld: dict[str, str] = field(default_factory=dict[str, str])
    _costs: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])

    def fill(self, room: int, count: Count) -> None:
        """Add pieces while the whole part costs no more than `room`."""
        misses = 0
        for place, piece in enumerate(self.pieces):
            if len(self.taken) >= self.most or self.spent >= room:
                return
            if place in self.taken or piece.id in self.withheld or not self._admits(piece):
                continue
            extra = 0 if self.taken else count(self._whole([])) + 2
            text, cost = self._cost(place, room, count)
            if self.spent + extra + cost <= room:
                self.taken[place] = text
                self.spent += extra + cost
                misses = 0
            else:
                misses += 1
            if misses > (0 if self.in_order else PASSED_OVER):
                return

    def drop(self, count: Count) -> None:
        """Drop the last piece."""
        place = max(self.taken)
        del self.taken[place]
        self.spent = count(self.text) if self.taken else 0

    def withhold(self, ids: Container[str], why: str, count: Count) -> None:
        """Exclude these items from now on, and drop those that are already in."""
        said = {place: piece.id for place, piece in enumerate(self.pieces) if piece.id in ids}
        self.withheld.update(dict.fromkeys(said.values(), why))
        if said.keys() & self.taken.keys():
            self.taken = {place: text for place, text in self.taken.items() if place not in said}
            self.spent = count(self.text) if self.taken else 0

    @property
    def words(self) -> tuple[str, ...]:
        """Return the raw texts of the included items."""
        return tuple(self.pieces[place].words for place in sorted(self.taken))

    @property
    def text(self) -> str:
        """Return the part as text; empty when it has no items."""
        return self._whole([self.taken[place] for place in sorted(self.taken)]) if self.taken else ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the included items."""
        return tuple(self.pieces[place].id for place in sorted(self.taken))

    def left_out(self) -> list[LeftOut]:
        """Return the items that are left out, by reason."""
        reasons: dict[str, list[str]] = {}
        for place, piece in enumerate(self.pieces):
            if place not in self.taken:
                reasons.setdefault(self._why(piece), []).append(piece.id)
        if self.others:
            reasons.setdefault(self._too_many(), []).extend(self.others)
        return [LeftOut(kind=self.kind, count=len(ids), ids=tuple(ids), why=why) for why, ids in reasons.items()]

    def _whole(self, texts: Sequence[str]) -> str:
        before, after = self.frame
        return before + "\n".join(texts) + after

    def _cost(self, place: int, room: int, count: Count) -> tuple[str, int]:
        if place not in self._costs:
            text = self.pieces[place].render()
            if len(text) > LONGEST_TOKEN * room:
                return text, room + 1
            # The line end after it is one token more.
            self._costs[place] = (text, count(text) + 1)
        return self._costs[place]

    def _admits(self, piece: ContextItem) -> bool:
        return not piece.untrusted or sum(self.pieces[at].untrusted for at in self.taken) < self.most_untrusted

    def _why(self, piece: ContextItem) -> str:
        if piece.id in self.withheld:
            return self.withheld[piece.id]
        if not self._admits(piece):
            return f"at most {self.most_untrusted} untrusted texts are included unless the caller asks for more"
        return self._too_many() if len(self.taken) >= self.most else NO_ROOM

    def _too_many(self) -> str:
        return f"a context holds at most {self.most} of its kind"


#: Of texts that may be skipped, this many times the most that may be included are considered.
_LOOK = 2


def notes(text: str, mark: str) -> PartFiller:
    """Return the global notes, line by line, as written."""
    lines = text.strip().splitlines()
    return _numbered(PartKind.NOTES, lines, [partial(line, one, mark) for one in lines], mark)


def bullets(kind: PartKind, texts: Sequence[str], mark: str) -> PartFiller:
    """Return the profile or the learnings, bullet by bullet."""
    return _numbered(kind, texts, [partial(bullet, text, mark) for text in texts], mark)


def summary(made: Summary, mark: str) -> PartFiller:
    """Return a summary, line by line, inside its fence."""
    lines = made.text.strip().splitlines()
    return _numbered(PartKind.SUMMARY, lines, [partial(quote_lines, line, mark) for line in lines], mark, made)


def memories(found: Sequence[RecalledText], budget: Budget, mark: str) -> PartFiller:
    """Return the recalled texts, the best first, inside their fence."""
    looked_at = budget.memories * _LOOK
    return PartFiller(
        kind=PartKind.MEMORY,
        frame=frame(PartKind.MEMORY, mark),
        pieces=[
            ContextItem(
                id=one.id, render=partial(recalled, one, mark), words=one.text, untrusted=one.trust not in TRUSTED
            )
            for one in found[:looked_at]
        ],
        most=budget.memories,
        others=[one.id for one in found[looked_at:]],
        most_untrusted=budget.untrusted,
        in_order=False,
    )


def _numbered(
    kind: PartKind, words: Sequence[str], renders: Sequence[partial[str]], mark: str, made: Summary | None = None
) -> PartFiller:
    pieces = [
        ContextItem(id=str(number), render=render, words=text)
        for number, (text, render) in enumerate(zip(words, renders, strict=True), start=1)
    ]
    return PartFiller(kind=kind, frame=frame(kind, mark, made), pieces=pieces, most=len(pieces))
