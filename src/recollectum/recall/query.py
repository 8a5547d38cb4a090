"""Defines a recall query: the question, how many hits it wants, and its filters."""

from dataclasses import dataclass, field

from recollectum.storage.tables.index.search_filters import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One question to a vault."""

    text: str
    limit: int
    filters: Filters = field(default_factory=Filters)
    #: How many hits of untrusted origin are shown at most; None for all.
    max_untrusted: int | None = None
