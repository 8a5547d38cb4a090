"""Selects the newest whole turns of a conversation that fit, and the older messages that a summary should cover."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from recollectum.domain.message import Message, Role, calls_answered
from recollectum.domain.records import dataclass

#: How far back the call of a result is searched; agents answer a call within a few messages.
FARTHEST = 200


def turn_units(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield the smallest ranges that stay or go together, from the newest back, lazily."""
    end = len(messages)
    while end > 0:
        start = _unit_start(messages, end - 1)
        yield start, end
        end = start


def is_orphan(messages: Sequence[Message], start: int) -> bool:
    """Return whether the unit that begins here is a tool result whose call is not among the messages."""
    return messages[start].role is Role.TOOL


def _unit_start(messages: Sequence[Message], last: int) -> int:
    """Return the start of the unit that ends with a message."""
    start = last
    place = last
    while place >= start:
        start = min(start, _call_of(messages, place))
        place -= 1
    return start


def _call_of(messages: Sequence[Message], place: int) -> int:
    """Return the index of the message with the call that this one answers; its own index when it answers none."""
    if messages[place].role is not Role.TOOL:
        return place
    wanted = calls_answered(messages[place])
    found = [at for at in _calling(messages, place, wanted)] if wanted else []
    # A result without a call, or with an unrecorded one, belongs to the message before it.
    return min(found, default=_before_results(messages, place))


def _calling(messages: Sequence[Message], place: int, wanted: frozenset[str]) -> Iterator[int]:
    missing = set(wanted)
    for at in range(place - 1, max(-1, place - 1 - FARTHEST), -1):
        answered = missing & {call.id for call in messages[at].tool_calls}
        if answered:
            missing -= answered
            yield at
        if not missing:
            return


def _before_results(messages: Sequence[Message], place: int) -> int:
    while place > 0 and messages[place].role is Role.TOOL:
        place -= 1
    return place


#: This many of the newest messages stay verbatim even if their turn is too long to stay whole.
VERBATIM = 10
Cost = Callable[[Message], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a conversation that is replayed."""

    messages: tuple[Message, ...] = ()
    #: The index from which on everything is replayed, except results without a call.
    start: int = 0
    #: Results whose calls are missing; no model accepts them.
    orphans: tuple[Message, ...] = ()
    tokens: int = 0

    @property
    def first(self) -> int | None:
        """Return the position of the oldest message; None when there is none."""
        return self.messages[0].position if self.messages else None


class _Room:
    """The rest of the three limits."""

    def __init__(self, user_turns: int, messages: int, tokens: int | None) -> None:
        self.user_turns = user_turns
        self.messages = messages
        self.tokens = tokens

    def take(self, said: Sequence[Message], cost: Cost) -> int | None:
        """Subtract the messages from the limits, and return their tokens.

        If they do not fit, return None and change nothing.
        """
        asked = sum(one.role is Role.USER for one in said)
        if len(said) > self.messages or asked > self.user_turns:
            return None
        tokens = 0
        for one in said:
            tokens += cost(one)
            # Counting is slow, so stop as soon as the limit is exceeded.
            if self.tokens is not None and tokens > self.tokens:
                return None
        self.messages -= len(said)
        self.user_turns -= asked
        if self.tokens is not None:
            self.tokens -= tokens
        return tokens


def select_window(
    messages: Sequence[Message],
    cost: Cost,
    *,
    max_user_turns: int = 30,
    max_messages: int = 20,
    tokens: int | None = None,
) -> Window:
    """Return the newest turns that fit, whole ones first; a tool call and its results stay or go together.

    A turn is a message of the person and everything up to the next one. The first turn that does not fit ends the
    window. Its newest messages are still included while there are fewer than ten. Of the newest turn as many as fit are
    included, and the question that began it, because the model needs it to know its task.
    """
    room = _Room(max_user_turns, max_messages, tokens)
    taken = _Taken(messages, len(messages))
    turn: list[tuple[int, int]] = []
    for start, end in turn_units(messages):
        turn.append((start, end))
        if messages[start].role is not Role.USER and start > 0 and taken.end - start <= max_messages:
            continue
        if not taken.whole(turn, room, cost):
            taken.some(turn, room, cost)
            break
        turn = []
    return taken.window()


class _Taken:
    """The messages taken so far, from the newest back."""

    def __init__(self, messages: Sequence[Message], end: int) -> None:
        self._messages = messages
        self._newest_first: list[Message] = []
        self._orphans: list[Message] = []
        self._tokens = 0
        self.end = end

    def whole(self, turn: Sequence[tuple[int, int]], room: _Room, cost: Cost) -> bool:
        """Take a turn if all of it fits."""
        kept = [unit for unit in turn if not is_orphan(self._messages, unit[0])]
        said = [self._messages[at] for start, end in kept for at in range(end - 1, start - 1, -1)]
        spent = room.take(said, cost)
        if spent is None:
            return False
        self._orphans += [self._messages[at] for unit in turn if unit not in kept for at in range(*unit)]
        self._newest_first += said
        self._tokens += spent
        self.end = turn[-1][0]
        return True

    def some(self, turn: Sequence[tuple[int, int]], room: _Room, cost: Cost) -> None:
        """Take the newest messages of a turn that does not fit whole."""
        newest = not self._newest_first
        question = self._question(turn[-1][0]) if newest else None
        pinned = room.take([question], cost) if question else None
        for unit in turn:
            enough = not newest and len(self._newest_first) + unit[1] - unit[0] > VERBATIM
            if enough or not self._beyond(question, unit) or not self.whole([unit], room, cost):
                break
        if question and pinned is not None:
            self._newest_first.append(question)
            self._tokens += pinned

    def _beyond(self, question: Message | None, unit: tuple[int, int]) -> bool:
        """Return whether a unit does not contain the question, which was taken separately."""
        return question is None or all(self._messages[at] is not question for at in range(*unit))

    def _question(self, start: int) -> Message | None:
        return next((self._messages[at] for at in range(start, -1, -1) if self._messages[at].role is Role.USER), None)

    def window(self) -> Window:
        """Return the taken messages, in order."""
        return Window(
            messages=tuple(reversed(self._newest_first)),
            start=self.end,
            orphans=tuple(reversed(self._orphans)),
            tokens=self._tokens,
        )


#: About this many tokens that no summary covers are worth a new summary.
TRIGGER = 8000


def to_summarise(messages: Sequence[Message], *, covered_to: int = 0, verbatim: int = VERBATIM) -> Sequence[Message]:
    """Return the messages for the next summary: after the last one's end, before those that stay verbatim."""
    begin = bisect_right(messages, covered_to, key=lambda one: one.position)
    end = max(0, len(messages) - verbatim)
    # A tool call among those that stay keeps its results, so the border may be further back.
    border = next((start for start, _ in turn_units(messages) if start <= end), 0)
    return messages[begin:border] if border > begin else ()
