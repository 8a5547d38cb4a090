"""Defines what operations and transactions are timed by, where somebody wants that."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol


class Spans(Protocol):
    """Measures pieces of work, each inside the one that it is a part of."""

    def measure(self, name: str, facts: Mapping[str, str]) -> AbstractContextManager[None]:
        """Measure the work of a block; the name and the facts are words of the program, never content or names."""
        ...
