"""Window: the newest part of a conversation that fits, in whole turns where it can."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollectum.context.turns import is_orphan, units
from recollectum.domain.message import Message, Role

#: So many of the newest messages stay word for word even when their turn is too long to stay whole.
VERBATIM = 10

Cost = Callable[[Message], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is replayed of a conversation."""

    messages: tuple[Message, ...] = ()
    #: The place in the conversation from which on everything is replayed, but for results without a call.
    start: int = 0
    #: Results whose calls are not there; no model accepts them.
    orphans: tuple[Message, ...] = ()
    tokens: int = 0

    @property
    def first(self) -> int | None:
        """The position of the oldest message; None when there is none."""
        return self.messages[0].position if self.messages else None


class _Room:
    """What is left of the three limits."""

    def __init__(self, user_turns: int, messages: int, tokens: int | None) -> None:
        self.user_turns = user_turns
        self.messages = messages
        self.tokens = tokens

    def take(self, said: Sequence[Message], cost: Cost) -> int | None:
        """What the messages cost, taken off the limits; None, and nothing taken, when they are too many."""
        asked = sum(one.role is Role.USER for one in said)
        if len(said) > self.messages or asked > self.user_turns:
            return None
        tokens = 0
        for one in said:
            tokens += cost(one)
            # Counting is what takes time: what is over already is not counted to its end.
            if self.tokens is not None and tokens > self.tokens:
                return None
        self.messages -= len(said)
        self.user_turns -= asked
        if self.tokens is not None:
            self.tokens -= tokens
        return tokens


def window(
    messages: Sequence[Message],
    cost: Cost,
    *,
    max_user_turns: int = 30,
    max_messages: int = 20,
    tokens: int | None = None,
) -> Window:
    """The newest turns that fit, whole ones first; a tool call and its results stay or go together.

    A turn is what a person says and all that follows until the next time. The first turn that does not fit ends the
    window. Its newest messages come in all the same while there are fewer than ten; of the newest turn as many as fit,
    and the question that began it, because without that the model does not know what it is doing.
    """
    room = _Room(max_user_turns, max_messages, tokens)
    taken = _Taken(messages, len(messages))
    turn: list[tuple[int, int]] = []
    for start, end in units(messages):
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
        """Take the newest of a turn that does not fit whole."""
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
        """Whether a unit comes after the question, which has been taken on its own."""
        return question is None or all(self._messages[at] is not question for at in range(*unit))

    def _question(self, start: int) -> Message | None:
        return next((self._messages[at] for at in range(start, -1, -1) if self._messages[at].role is Role.USER), None)

    def window(self) -> Window:
        """What was taken, in order."""
        return Window(
            messages=tuple(reversed(self._newest_first)),
            start=self.end,
            orphans=tuple(reversed(self._orphans)),
            tokens=self._tokens,
        )
