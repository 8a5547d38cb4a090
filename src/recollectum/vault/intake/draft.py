"""Defines what callers hand in for a memory, and checks its values."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import check_text, parse_enum
from recollectum.domain.memory import MAX_CONTENT, Kind, KindName, check_key
from recollectum.domain.records import dataclass

MAX_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The arguments of `Memories.save` as a value."""

    content: str
    key: str | None = None
    kind: KindName = Kind.FACT
    #: From 0 to 1.
    importance: float = 0.5
    #: How long the memory may be served; a deadline, not a weight.
    ttl: timedelta | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    message_id: str | None = None
    agent: str | None = None
    #: The name, id or folder of the project that it is limited to; None for a personal memory.
    project: str | None = None

    def check(self) -> None:
        """Raise for the first invalid value, in one sentence."""
        check_text("content", self.content)
        # Many thousands may come at once, and most have none of these.
        if not self.key is self.message_id is self.agent is self.project is None:
            self._check_names()
        if self.ttl is not None and self.ttl <= timedelta(0):
            raise InvalidInput(f"ttl {self.ttl} is not in the future; give a positive duration")
        check_importance(self.importance)
        check_aware("valid_from", self.valid_from)
        check_aware("valid_to", self.valid_to)
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            raise InvalidInput(f"valid_to {self.valid_to} is not after valid_from {self.valid_from}")
        if not isinstance(self.kind, Kind):
            parse_enum(Kind, self.kind, "kind")
        check_content(self.content)

    def _check_names(self) -> None:
        names = (("key", self.key), ("message_id", self.message_id), ("agent", self.agent), ("project", self.project))
        for name, value in names:
            if value is not None:
                check_text(name, value)
        if self.key is not None:
            check_key(self.key)


def check_content(content: str) -> str:
    """Return the content; raise when it is empty or too long."""
    if not content.strip():
        raise InvalidInput("the content is empty; give it at least one word")
    if len(content) > MAX_CONTENT:
        raise InvalidInput(f"content of {len(content)} characters is too long; use at most {MAX_CONTENT}")
    return content


def check_importance(importance: float) -> float:
    """Return the importance; raise when it is not between 0 and 1."""
    if not math.isfinite(importance) or not 0 <= importance <= 1:
        raise InvalidInput(f"importance {importance} is out of range; use 0 to 1")
    return importance


def check_aware(name: str, time: datetime | None) -> datetime | None:
    """Return the time; raise when it has no time zone."""
    if time is not None and time.tzinfo is None:
        raise InvalidInput(f"{name} {time} has no time zone; give an aware datetime")
    return time


def check_score(name: str, score: float | None) -> float | None:
    """Return the score; raise when it is not from 0 to 1."""
    if score is not None and not 0 <= score <= 1:
        raise InvalidInput(f"{name} {score} is out of range; use 0 to 1")
    return score


def check_limit(limit: int, most: int, name: str = "limit") -> int:
    """Return the limit; raise when it is out of range, with the name it was given by."""
    if not 1 <= limit <= most:
        raise InvalidInput(f"{name} {limit} is out of range; use 1 to {most}")
    return limit


def check_ids(ids: Sequence[str], *, alone: bool) -> list[str]:
    """Return the ids of a list; raise when they are too many, no text, or given with a parameter that they replace."""
    if not alone:
        raise InvalidInput("ids cannot be combined with kind, key_prefix or cursor; give the ids alone")
    # A text is a sequence of texts, too.
    listed = [ids] if isinstance(ids, str) else list(ids)
    for one in listed:
        check_text("an id", one)
    if len(listed) > MAX_PAGE:
        raise InvalidInput(f"{len(listed)} ids are too many; list at most {MAX_PAGE} at once")
    return listed
