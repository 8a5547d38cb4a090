"""Checks a memory before it is written: content, kind, importance, times, and its trust in a shared vault."""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import InvalidInput, StepRefused
from recollectum.domain.memory import MAX_CONTENT, Kind, check_key
from recollectum.domain.trust import Trust
from recollectum.text.cleaning import clean
from recollectum.vault.intake.redaction import redact_text

_TRUSTED = frozenset({Trust.OWNER, Trust.ASSISTANT})


def check_shared_trust(owner: Owner | None, trust: Trust) -> Trust:
    """The trust, unless the vault is the one that all share and the text is not its owner's own."""
    if owner is not None and owner.kind is OwnerKind.GLOBAL and trust not in _TRUSTED:
        raise StepRefused(
            f"text of {trust} origin is not taken into the global vault, which everybody reads; "
            "let its operator say it, or keep it in a person's own vault"
        )
    return trust


MAX_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What `Memories.save` takes, as a value."""

    content: str
    key: str | None = None
    kind: str = Kind.FACT
    #: From 0 to 1.
    importance: float = 0.5
    #: How long it may be served at all; a deadline, not a weight.
    ttl: timedelta | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    message_id: str | None = None
    agent: str | None = None

    def checked(self) -> "Draft":
        """The same draft with a clean text, or a sentence about the first value that cannot be used."""
        if self.key is not None:
            check_key(self.key)
        if self.ttl is not None and self.ttl <= timedelta(0):
            raise InvalidInput(f"ttl {self.ttl} is not in the future; give a positive duration")
        check_importance(self.importance)
        check_aware("valid_from", self.valid_from)
        check_aware("valid_to", self.valid_to)
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            raise InvalidInput(f"valid_to {self.valid_to} is not after valid_from {self.valid_from}")
        agent = clean(self.agent) if self.agent else None
        return replace(self, content=check_content(self.content), kind=checked_kind(self.kind), agent=agent)


def check_content(content: str) -> str:
    """A text that can be kept, without secrets."""
    text = redact_text(clean(content))
    if not text.strip():
        raise InvalidInput("the content is empty; give it at least one word")
    if len(text) > MAX_CONTENT:
        raise InvalidInput(f"content of {len(text)} characters is too long; use at most {MAX_CONTENT}")
    return text


def check_importance(importance: float) -> float:
    """A weight between 0 and 1."""
    if not math.isfinite(importance) or not 0 <= importance <= 1:
        raise InvalidInput(f"importance {importance} is out of range; use 0 to 1")
    return importance


def checked_kind(kind: str) -> Kind:
    """One of the kinds there are."""
    try:
        return Kind(kind)
    except ValueError:
        raise InvalidInput(f"kind {kind!r} is unknown; use one of {', '.join(Kind)}") from None


def check_aware(name: str, time: datetime | None) -> datetime | None:
    """A time that says in which zone it is."""
    if time is not None and time.tzinfo is None:
        raise InvalidInput(f"{name} {time} has no time zone; give an aware datetime")
    return time


def check_limit(limit: int, most: int, name: str = "limit") -> int:
    """A size that can be served, under the name by which it was given."""
    if not 1 <= limit <= most:
        raise InvalidInput(f"{name} {limit} is out of range; use 1 to {most}")
    return limit
