"""Keeps the chunks that the filters of one question allow, each looked up once."""

from collections.abc import Iterable

from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index import search
from recollectum.storage.tables.index.search import Evidence

#: Where most candidates may be allowed, so many more than are wanted are looked up first; then all others.
_SPARE = 4


class AllowedChunks:
    """The filters of one question in one snapshot."""

    def __init__(self, tx: Tx, params: Params, *, filtered: bool) -> None:
        self._tx = tx
        self.params = params
        #: Whether anything is filtered; without that, what may not be served at all is still left out.
        self.filtered = filtered
        #: Whether so little is left that it is best looked up at once.
        self.narrow = params["session_id"] is not None
        self._everything: set[int] | None = None
        #: What was looked up so far; None for a chunk that may not be served.
        self._known: dict[int, Evidence | None] = {}

    def evidence(self, numbers: Iterable[int]) -> dict[int, Evidence]:
        """The chunks among these that may be served, by number, with what ranking has to know of each."""
        wanted = list(numbers)
        known = self._known
        if unknown := [number for number in wanted if number not in known]:
            found = search.evidence(self._tx, unknown, self.params, filtered=self.filtered)
            known.update((number, found.get(number)) for number in unknown)
        return {number: one for number in wanted if (one := known[number]) is not None}

    def best(self, ordered: list[int], most: int) -> list[int]:
        """The first that are left, one piece of each text: one long text must not take the places of all others."""
        best: dict[tuple[str, int], int] = {}
        first = most + most // _SPARE
        for block in (ordered[:first], ordered[first:]) if len(ordered) > 2 * first else (ordered,):
            for number, one in self.evidence(block).items():
                best.setdefault((one.source, one.source_number), number)
            if len(best) >= most:
                break
        return list(best.values())[:most]

    def everything(self) -> set[int]:
        """Every chunk that is left, looked up once."""
        if self._everything is None:
            self._everything = search.all_allowed(self._tx, self.params)
        return self._everything
