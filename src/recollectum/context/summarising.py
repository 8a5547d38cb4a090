"""Summarising: when a conversation is long enough for a summary, and which of its messages go in next."""

from bisect import bisect_right
from collections.abc import Sequence

from recollectum.context.turns import units
from recollectum.context.window import VERBATIM
from recollectum.domain.message import Message
from recollectum.text.tokens import estimate

#: About so many tokens that no summary covers are worth one.
TRIGGER = 8000


def needs_summary(messages: Sequence[Message], *, covered_to: int = 0, trigger: int = TRIGGER) -> bool:
    """Whether more was said since the last summary than should be replayed, and some of it is old enough to fold in."""
    tokens = 0
    for message in reversed(messages):
        if message.position <= covered_to:
            break
        # The count that was stored with the row, where there is one; counting anew is what takes time.
        tokens += message.token_estimate or estimate(message.text)
        if tokens > trigger:
            return bool(to_summarise(messages, covered_to=covered_to))
    return False


def to_summarise(messages: Sequence[Message], *, covered_to: int = 0, verbatim: int = VERBATIM) -> Sequence[Message]:
    """The messages to fold into the next summary: after the last one's reach, before those that stay word for word."""
    begin = bisect_right(messages, covered_to, key=lambda one: one.position)
    end = max(0, len(messages) - verbatim)
    # A tool call among those that stay keeps its results, so the border may lie further back.
    border = next((start for start, _ in units(messages) if start <= end), 0)
    return messages[begin:border] if border > begin else ()
