"""Finds the chunks that the filters of a question allow, by the cheapest query."""

from recollectum.recall.evidence import to_json_list
from recollectum.recall.filters import FILTERED, ROWS
from recollectum.storage.port import Params, Tx

#: Of what most of may be left, so much more than is wanted is looked up at first; then twice as many each time.
_SPARE = 4
_SERVED = f"""
    SELECT chunks.number, chunks.source, chunks.source_number
      FROM json_each(:numbers) AS wanted {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)
_LEFT = f"""
    SELECT chunks.number FROM ({{some}}) AS every {ROWS.format(numbers="every.number")} WHERE {FILTERED}
"""  # noqa: S608
_ALL = "SELECT number FROM chunks"
_OF_SOURCES = "SELECT number FROM chunks WHERE source IN (SELECT value FROM json_each(:sources))"
_OF_MEMORIES = "SELECT number FROM chunks WHERE source = 'memories'"
_OF_SESSION = """
    SELECT chunks.number FROM messages
     CROSS JOIN chunks ON chunks.source = 'sessions' AND chunks.source_number = messages.number
     WHERE messages.session_id = :session_id
"""
_OF_SESSIONS = """
    SELECT chunks.number FROM json_each(:sessions) AS one CROSS JOIN messages ON messages.session_id = one.value
     CROSS JOIN chunks ON chunks.source = 'sessions' AND chunks.source_number = messages.number
     UNION ALL
    SELECT number FROM chunks WHERE source = 'memories'
"""
# From the beginning of time, or to its end, where only one of the two is given.
_SINCE, _UNTIL = "coalesce(:since, -9223372036854775807)", "coalesce(:until, 9223372036854775807)"
_OF_TIME = f"""
    SELECT chunks.number FROM (
            SELECT 'sessions' AS source, number FROM messages WHERE created_at >= {_SINCE} AND created_at < {_UNTIL}
             UNION ALL
            SELECT 'memories', number FROM memories WHERE created_at >= {_SINCE} AND created_at < {_UNTIL}
             UNION ALL
            SELECT 'notes', number FROM notes WHERE mtime >= {_SINCE} AND mtime < {_UNTIL}) AS row
     CROSS JOIN chunks ON chunks.source = row.source AND chunks.source_number = row.number
"""  # noqa: S608


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
            rows = self._tx.rows(_SERVED, {**self.params, "numbers": to_json_list(block)})
            places = {number: (source, source_number) for number, source, source_number in rows}
            for number in block:
                if number in places:
                    best.setdefault(places[number], number)
        return list(best.values())[:most]

    def everything(self) -> set[int]:
        """Every chunk that is left, looked up once."""
        if self._everything is None:
            rows = self._tx.rows(_LEFT.format(some=_cheapest_query(self.params)), self.params)
            self._everything = {row[0] for row in rows}
        return self._everything


def _cheapest_query(params: Params) -> str:
    """A query for chunks that has all that are left, and as few others as the filters let it."""
    sources = params["sources"]
    ways = (
        (params["session_id"] is not None, _OF_SESSION),
        (params["kind"] is not None, _OF_MEMORIES),
        (isinstance(sources, str) and '"sessions"' not in sources, _OF_SOURCES),
        (params["sessions"] is not None, _OF_SESSIONS),
        (params["since"] is not None or params["until"] is not None, _OF_TIME),
    )
    return next((way for fits, way in ways if fits), _ALL)
