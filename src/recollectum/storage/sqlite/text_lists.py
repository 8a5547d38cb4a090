"""In which chunks each phrase stands, as FTS5 tells it: in one text each, since rows by the thousand would take longer.

A list has the numbers of the chunks, ascending, and each as often as the phrase stands there; of several words side by
side, and of the beginning of a word, it has each once.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final, cast

import apsw

from recollectum.storage.port import Row
from recollectum.text.narrowing import any_of

#: How the words of a query become the terms that the index has, as its migration says.
_TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
NO_LIMIT: Final = -1
#: Kept by each connection for itself: it has no rows of its own.
_OCCURRENCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences USING fts5vocab (main, search, instance)"
_OF_PHRASE = "SELECT json_group_array(rowid) FROM search WHERE search MATCH ?"
_SOME_OF_TERMS = """
    SELECT (SELECT json_group_array(doc) FROM (SELECT doc FROM temp.occurrences WHERE term = one.value LIMIT ?))
      FROM json_each(?) AS one
"""
_SOME_OF_PHRASE = """
    SELECT json_group_array(number) FROM (SELECT rowid AS number FROM search WHERE search MATCH ? LIMIT ?)
"""
_NEWEST = """
    SELECT json_group_array(number)
      FROM (SELECT number FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
             UNION SELECT rowid FROM search WHERE search MATCH ?)
"""
_LAST = """
    SELECT count(*), min(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
"""


def prepare(connection: apsw.Connection, *, query_only: bool) -> None:
    """Let a connection tell where terms stand, which is to be done before it is used."""
    if query_only:
        connection.pragma("query_only", "off")
    connection.execute(_OCCURRENCES)
    if query_only:
        connection.pragma("query_only", "on")


def fetch(connection: apsw.Connection, sql: str, params: Sequence[int | str]) -> list[Row]:
    """Run a statement and fetch what it returns."""
    return cast(list[Row], connection.execute(sql, params).fetchall())


class TextLists:
    """The lists of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tokenize = connection.fts5_tokenizer(*_TOKENIZER)

    def some(self, phrases: Iterable[str], most: int) -> dict[str, str]:
        """The first places of each phrase, so many or all."""
        terms = {phrase: self._term(phrase) for phrase in phrases}
        single = [phrase for phrase, term in terms.items() if term is not None]
        listed = json.dumps([terms[phrase] for phrase in single])
        rows = fetch(self._connection, _SOME_OF_TERMS, (most, listed)) if single else []
        found = {phrase: cast(str, row[0]) for phrase, row in zip(single, rows, strict=True)}
        return {
            phrase: found[phrase] if term is not None else self._one(_SOME_OF_PHRASE, phrase, most)
            for phrase, term in terms.items()
        }

    def beside(self, phrase: str, others: Sequence[str]) -> str:
        """The chunks with a phrase and one of some others, each once."""
        return self._one(_OF_PHRASE, f"{phrase} AND ({any_of(others)})")

    def newest(self, phrase: str, most: int, others: Sequence[str]) -> str:
        """The newest chunks with a phrase, and all where it stands with one of some others, each once."""
        both = f"{phrase} AND ({any_of(others)})" if others else '""'
        return self._one(_NEWEST, phrase, most, both)

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """How many of the newest chunks with a phrase there are, up to so many, and the oldest of these."""
        count, oldest = fetch(self._connection, _LAST, (phrase, most))[0]
        return count, oldest or 0

    def _one(self, sql: str, *params: int | str) -> str:
        return fetch(self._connection, sql, params)[0][0]

    def _term(self, phrase: str) -> str | None:
        """The one term that a phrase is; None for several, and for the beginning of one."""
        if phrase.endswith("*"):
            return None
        found = cast(
            list[tuple[str]],
            self._tokenize(phrase.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False),
        )
        return found[0][0] if len(found) == 1 else None
