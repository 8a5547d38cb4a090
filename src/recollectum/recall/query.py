"""Defines a recall query: the question, how many hits it wants, and its filters."""

from dataclasses import field

from recollectum.domain.files.project import ProjectScope
from recollectum.domain.records import dataclass
from recollectum.storage.tables.index.search_filters import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """A question to a vault, with its limit and filters."""

    text: str
    limit: int
    filters: Filters = field(default_factory=Filters)
    #: The most hits of untrusted origin; None for no limit.
    max_untrusted: int | None = None
    #: Hits with a lower score are left out; None for none. Scores that are not calibrated are not compared.
    min_score: float | None = None
    #: Whether to return nothing where even the best hit is probably not relevant.
    answers_only: bool = False
    #: The score that the best hit must reach for that; None for the floor of the calibration.
    floor: float | None = None
    #: The project that is asked from, whose texts are preferred.
    near: ProjectScope | None = None
