"""Keeps the chunks that the filters of one question allow, each looked up once."""

from collections.abc import Iterable

from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index import search
from recollectum.storage.tables.index.search import Evidence

#: The first lookup takes the wanted candidates and one in this many more, enough if most are allowed; then all others.
_SPARE = 4


class AllowedChunks:
    """The filters of one question in one snapshot."""

    def __init__(self, tx: Tx, params: Params, *, filtered: bool) -> None:
        self._tx = tx
        self.params = params
        #: Whether a filter is set; without one, chunks that may never be served are still left out.
        self.filtered = filtered
        #: Whether so few chunks are allowed that it is best to load all of them at once.
        self.narrow = params["session_id"] is not None
        self._everything: set[int] | None = None
        #: The loaded chunks; None for a chunk that may not be served.
        self._known: dict[int, Evidence | None] = {}

    def evidence(self, numbers: Iterable[int]) -> dict[int, Evidence]:
        """Return those of the chunks that may be served, by number, with the features that ranking needs."""
        wanted = list(numbers)
        known = self._known
        if unknown := [number for number in wanted if number not in known]:
            known.update(dict.fromkeys(unknown))
            known.update(search.evidence(self._tx, unknown, self.params, filtered=self.filtered))
        return {number: one for number in wanted if (one := known[number]) is not None}

    def best(self, ordered: list[int], most: int) -> list[int]:
        """Return the first allowed chunks, one of each text, so that one long text does not crowd out the others."""
        best: dict[tuple[str, int], int] = {}
        first = most + most // _SPARE
        for block in (ordered[:first], ordered[first:]) if len(ordered) > 2 * first else (ordered,):
            for number, one in self.evidence(block).items():
                best.setdefault((one.source, one.source_number), number)
            if len(best) >= most:
                break
        return list(best.values())[:most]

    def everything(self) -> set[int]:
        """Return every allowed chunk; load them once."""
        if self._everything is None:
            self._everything = search.all_allowed(self._tx, self.params)
        return self._everything
