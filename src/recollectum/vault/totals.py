"""Totals: how much a vault holds, by noun and state."""

from collections.abc import Mapping
from dataclasses import dataclass

from recollectum.domain.memory import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts, and nothing that says what was counted."""

    #: Rows by the state they are stored in; a sweep that is due has not been counted.
    memories: Mapping[State, int]
    sessions: int
    messages: int
