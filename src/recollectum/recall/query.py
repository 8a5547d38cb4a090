"""Defines a recall query: the question, how many hits it wants, and its filters."""

from dataclasses import dataclass, field

from recollectum.storage.tables.index.search_filters import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """A question to a vault, with its limit and filters."""

    text: str
    limit: int
    filters: Filters = field(default_factory=Filters)
    #: The most hits of untrusted origin; None for no limit.
    max_untrusted: int | None = None
