"""Looks from time to time whether the schema was changed in a way that a running program may not go on beside."""

import time
from collections.abc import Callable

from recollectum.storage.postgres.connections.connection import Connected

#: Seconds between two looks. `/readyz` looks each time, and a statement that does not fit fails with a sentence.
_EVERY = 15.0


class SchemaWatch:
    """Checks the schema before a transaction, at most once in a while; a check that failed is made again each time."""

    def __init__(self, check: Callable[[Connected], object], every: float = _EVERY) -> None:
        self._check = check
        self._every = every
        # The schema is checked when a home is opened.
        self._due = time.monotonic() + every

    def look(self, connection: Connected) -> None:
        """Raise when the program may not go on."""
        now = time.monotonic()
        if now >= self._due:
            self._check(connection)
            self._due = now + self._every
