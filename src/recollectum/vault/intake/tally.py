"""Counts the secrets that were replaced in the texts of one write, and the characters that the index leaves out."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.domain.notice import INDEXED, NO_NOTICE, Notice
from recollectum.domain.session import SessionKey
from recollectum.text.replaced import replaced_kinds


class Mark(NamedTuple):
    """How far a tally was at one time."""

    kinds: int = 0
    kept: int = 0
    unindexed: int = 0


_BEGINNING = Mark()


class Tally:
    """Counts for the notices of one write: of all its texts, or of those since a mark."""

    __slots__ = ("_kept", "_kinds", "_unindexed")

    def __init__(self) -> None:
        self._kinds: list[str] = []
        self._kept: list[str] = []
        self._unindexed = 0

    def compare(self, given: str, made: str) -> str:
        """Count the secrets that were replaced between two forms of a text; return the second."""
        if made != given:
            self._kinds += replaced_kinds(given, made)
        return made

    def compare_place(self, given: SessionKey, made: SessionKey) -> SessionKey:
        """Count the secrets that were replaced in the names of a session; return its second key."""
        if made is not given:
            self.compare(given.name or "", made.name or "")
            self.compare(given.topic or "", made.topic or "")
        return made

    def keep(self, places: Iterable[str]) -> None:
        """Count secrets that the credential store keeps."""
        self._kept += places

    def measure(self, text: str) -> None:
        """Count the characters of an indexed text that the index leaves out."""
        if len(text) > INDEXED:
            self._unindexed += len(text) - INDEXED

    def mark(self) -> Mark:
        """Return the current state, from which a notice may begin."""
        return Mark(len(self._kinds), len(self._kept), self._unindexed)

    def notice(self, since: Mark | None = None) -> Notice:
        """Return the notice of what was counted, in all or since a mark."""
        began = since or _BEGINNING
        # One by one: most writes have nothing to tell, and each of their texts asks.
        if began.unindexed == self._unindexed and began.kinds == len(self._kinds) and began.kept == len(self._kept):
            return NO_NOTICE
        return Notice(
            replaced=dict(Counter(self._kinds[began.kinds :])),
            kept=tuple(dict.fromkeys(self._kept[began.kept :])),
            unindexed=self._unindexed - began.unindexed,
        )
