"""Defines a recall query: the question, how many hits it wants, and its filters."""

from dataclasses import dataclass, field

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import SourceKind
from recollectum.domain.trust import Trust
from recollectum.storage.tables.index.search_filters import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One question to a vault."""

    text: str
    limit: int
    filters: Filters = field(default_factory=Filters)
    #: How many hits of untrusted origin are shown at most; None for all.
    max_untrusted: int | None = None


def to_source(text: str) -> SourceKind:
    """The source of that name; any other is refused."""
    try:
        return SourceKind(text)
    except ValueError:
        raise InvalidInput(f"source {text!r} is unknown; use one of {', '.join(SourceKind)}") from None


def to_trust(text: str) -> Trust:
    """The trust of that name; any other is refused."""
    try:
        return Trust(text)
    except ValueError:
        raise InvalidInput(f"trust {text!r} is unknown; use one of {', '.join(Trust)}") from None
