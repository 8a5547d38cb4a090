"""Compiles notes, profile, learnings, recalled texts, summary and window into one context inside a budget.

The parts are ordered by how seldom they change, so that a provider's prompt cache keeps the beginning. The budget's
tokens are divided like this:

1. Notes, profile and learnings get 15, 10 and 10 per cent. What one of them leaves goes to the others, but together
   they never take more: their text must not depend on what was recalled or said.
2. Recalled texts get 25 per cent, the best first. A text that does not fit is skipped.
3. The summary gets 15 per cent, and only if the window cannot hold the whole conversation.
4. The window gets all the rest, the newest turns first.
5. What the window leaves goes to recalled texts, then to the summary.

Nothing is said twice: what is in a bullet or in the window is not recalled as well.

If the whole costs more than the sum of its pieces, the last lines are dropped in this order: summary, recalled texts,
the oldest messages, learnings, profile, notes.
"""

from collections.abc import Sequence
from dataclasses import field

from recollectum.context import parts as pieces
from recollectum.context.fences import check_mark
from recollectum.context.parts import LONGEST_TOKEN
from recollectum.context.rendering import BETWEEN, conversation, frame, message
from recollectum.context.window import Window, select_window
from recollectum.domain.context import SHARES, Budget, Context, Ledger, LeftOut, PartCost, PartKind, Parts
from recollectum.domain.message import Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import ORIGIN
from recollectum.text.tokens import TokenCounter

#: The tokens that a provider adds to each message for its role and its borders.
PER_MESSAGE = 4

_STABLE = (PartKind.NOTES, PartKind.PROFILE, PartKind.LEARNING)
_BULLETS = (PartKind.PROFILE, PartKind.LEARNING)
_IN_FULL = "the whole conversation is in the context, so it needs no summary"
_SAID = "it is already in the conversation"
_KNOWN = "it is already in the profile or the learnings"
_ORPHAN = "it is the result of a tool call that is not in the context"


def compile_context(parts: Parts, budget: Budget, counter: TokenCounter, *, mark: str) -> Context:
    """Return the context that fits a budget, and its ledger; deterministic, and never over any limit."""
    making = _Making(parts, budget, counter, check_mark(mark))
    making.fill()
    making.give_way()
    return making.context()


@dataclass(frozen=True, slots=True)
class _Measure:
    """The cost of the conversation as messages or as text, whichever is more."""

    counter: TokenCounter
    mark: str
    tokens: int
    #: By id: a second window begins with the messages of the first.
    known: dict[str, int] = field(default_factory=dict[str, int])

    def __call__(self, said: Message) -> int:
        if said.id not in self.known:
            self.known[said.id] = self._count(said)
        return self.known[said.id]

    def _count(self, said: Message) -> int:
        text, raw = message(said, self.mark), said.text
        if max(len(text), len(raw)) > LONGEST_TOKEN * self.tokens:
            return self.tokens + 1
        # As a message its raw text is sent, including what the rendered text leaves out.
        sent = 0 if raw in text else self.counter.count(raw)
        return max(self.counter.count(text), sent) + PER_MESSAGE


class _Making:
    """A context that is being compiled."""

    def __init__(self, parts: Parts, budget: Budget, counter: TokenCounter, mark: str) -> None:
        self._parts = parts
        self._budget = budget
        self._counter = counter
        self._mark = mark
        self._measure = _Measure(counter, mark, budget.tokens)
        self._window = Window(start=len(parts.messages))
        self._costs: dict[PartKind, int] = {}
        self._total = 0
        self._fillings = {
            PartKind.NOTES: pieces.notes(parts.notes, mark),
            PartKind.PROFILE: pieces.bullets(PartKind.PROFILE, parts.profile, mark),
            PartKind.LEARNING: pieces.bullets(PartKind.LEARNING, parts.learnings, mark),
            PartKind.MEMORY: pieces.memories(parts.recalled, budget, mark),
        }

    def fill(self) -> None:
        """Give each part its share, and then what others left."""
        for kind in _STABLE:
            self._fillings[kind].fill(self._share(kind), self._counter.count)
        self._top_up(_STABLE, sum(self._share(kind) for kind in _STABLE))
        self._withhold_known()
        self._fillings[PartKind.MEMORY].fill(self._share(PartKind.MEMORY), self._counter.count)
        self._take_window(self._left())
        if self._cut() and self._parts.summary:
            made = pieces.summary(self._parts.summary, self._mark)
            made.fill(self._share(PartKind.SUMMARY), self._counter.count)
            self._fillings[PartKind.SUMMARY] = made
            self._take_window(self._left() + self._said())
        self._withhold_said()
        self._top_up([kind for kind in (PartKind.MEMORY, PartKind.SUMMARY) if kind in self._fillings], None)

    def give_way(self) -> None:
        """Drop the last lines until the whole is within the budget."""
        while (over := self._weigh() - self._budget.tokens) > 0:
            kind = next((kind for kind in self._least_first() if self._fillings[kind].taken), None)
            if self._window.messages and (kind is None or kind in _STABLE):
                self._take_window(self._said() - over)
            elif kind:
                self._fillings[kind].drop(self._counter.count)

    def context(self) -> Context:
        """Return the compiled context."""
        costs = [
            PartCost(kind=kind, tokens=self._costs[kind], ids=self._fillings[kind].ids)
            for kind in PartKind
            if kind in self._costs
        ]
        if said := self._window.messages:
            costs.append(PartCost(kind=PartKind.MESSAGE, tokens=self._said(), ids=tuple(one.id for one in said)))
        if layout := self._total - sum(part.tokens for part in costs):
            costs.append(PartCost(kind=PartKind.LAYOUT, tokens=layout))
        return Context(
            text=self._text(),
            messages=self._window.messages,
            conversation=conversation(self._window.messages, self._mark),
            verbatim_ids=self._verbatim_ids(),
            served=tuple(words for kind in PartKind if kind in self._fillings for words in self._fillings[kind].words),
            ledger=Ledger(
                parts=tuple(costs),
                left_out=tuple(self._left_out()),
                budget=self._budget,
                counter=self._counter.name,
                exact=self._counter.exact,
            ),
        )

    def _verbatim_ids(self) -> tuple[str, ...]:
        lines = (words for kind in _BULLETS for words in self._fillings[kind].words)
        known = self._parts.memory_of
        return (*(known[words] for words in lines if words in known), *self._fillings[PartKind.MEMORY].ids)

    def _withhold_known(self) -> None:
        """Leave out recalled memories that are among the bullets, so that nothing is said twice."""
        told = {words for kind in _BULLETS for words in self._fillings[kind].words}
        ids = {one.id for one in self._parts.recalled if one.text in told}
        self._fillings[PartKind.MEMORY].withhold(ids, _KNOWN, self._counter.count)

    def _withhold_said(self) -> None:
        """Leave out recalled messages that are in the window, so that nothing is said twice."""
        said = self._window.messages
        # In a fork, a message may be recalled as the original that it is a copy of.
        ids = {one.id for one in said} | {copied for one in said if isinstance(copied := one.extra.get(ORIGIN), str)}
        self._fillings[PartKind.MEMORY].withhold(ids, _SAID, self._counter.count)

    def _share(self, kind: PartKind) -> int:
        return self._budget.tokens * SHARES[kind] // 100

    def _top_up(self, kinds: Sequence[PartKind], most: int | None) -> None:
        for kind in kinds:
            made = self._fillings[kind]
            left = self._left() if most is None else most - sum(self._fillings[one].spent for one in kinds)
            made.fill(made.spent + left, self._counter.count)

    def _left(self) -> int:
        """Return the unclaimed tokens; two tokens separate one part from the next."""
        spent = sum(made.spent + 2 for made in self._fillings.values() if made.taken)
        return self._budget.tokens - spent - self._said()

    def _said(self) -> int:
        """Return the cost of the window, with its heading."""
        if not self._window.messages:
            return 0
        return self._window.tokens + self._heading()

    def _heading(self) -> int:
        return self._counter.count("".join(frame(PartKind.MESSAGE, self._mark))) + 2

    def _take_window(self, room: int) -> None:
        self._window = select_window(
            self._parts.messages,
            self._measure,
            max_user_turns=self._budget.user_turns,
            max_messages=self._budget.messages,
            tokens=room - self._heading(),
        )

    def _cut(self) -> bool:
        return bool(self._parts.earlier or self._window.start)

    def _least_first(self) -> list[PartKind]:
        order = (PartKind.SUMMARY, PartKind.MEMORY, *reversed(_STABLE))
        return [kind for kind in order if kind in self._fillings]

    def _text(self) -> str:
        made = (self._fillings[kind].text for kind in PartKind if kind in self._fillings)
        return BETWEEN.join(text for text in made if text)

    def _weigh(self) -> int:
        """Return the cost of the whole: the sum of its parts, or that of the whole text if it is more."""
        self._costs = {kind: self._counter.count(made.text) for kind, made in self._fillings.items() if made.taken}
        said = conversation(self._window.messages, self._mark)
        whole = self._counter.count(BETWEEN.join(block for block in (self._text(), said) if block))
        self._total = max(sum(self._costs.values()) + self._said(), whole)
        return self._total

    def _left_out(self) -> list[LeftOut]:
        groups = [group for made in self._fillings.values() for group in made.left_out()]
        if self._parts.summary and PartKind.SUMMARY not in self._fillings:
            groups.append(LeftOut(kind=PartKind.SUMMARY, count=1, ids=("1",), why=_IN_FULL))
        return groups + self._unsaid()

    def _unsaid(self) -> list[LeftOut]:
        kept = {one.id for one in self._window.messages}
        older = [one.id for one in self._parts.messages[: self._window.start] if one.id not in kept]
        groups: list[LeftOut] = []
        if count := len(older) + self._parts.earlier:
            groups.append(LeftOut(kind=PartKind.MESSAGE, count=count, ids=tuple(older), why=self._why_older()))
        if orphans := self._window.orphans:
            ids = tuple(one.id for one in orphans)
            groups.append(LeftOut(kind=PartKind.MESSAGE, count=len(ids), ids=ids, why=_ORPHAN))
        return groups

    def _why_older(self) -> str:
        limits = self._budget
        return (
            f"the newest turns come first, and the window holds at most {limits.messages} messages"
            f" and {limits.user_turns} turns in what is left of {limits.tokens} tokens"
        )
