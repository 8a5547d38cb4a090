"""Keeps the chunks that the filters of a question allow, looked up as seldom as possible."""

from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index import search

#: Of what most of may be left, so much more than is wanted is looked up at first; then twice as many each time.
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

    def best(self, ordered: list[int], most: int) -> list[int]:
        """The first that are left, one piece of each text: one long text must not take the places of all others."""
        best: dict[tuple[str, int], int] = {}
        start, size = 0, most + most // _SPARE
        while start < len(ordered) and len(best) < most:
            block = ordered[start : start + size]
            start, size = start + size, 2 * size
            rows = search.allowed(self._tx, block, self.params)
            places = {number: (source, source_number) for number, source, source_number in rows}
            for number in block:
                if number in places:
                    best.setdefault(places[number], number)
        return list(best.values())[:most]

    def everything(self) -> set[int]:
        """Every chunk that is left, looked up once."""
        if self._everything is None:
            self._everything = search.all_allowed(self._tx, self.params)
        return self._everything
