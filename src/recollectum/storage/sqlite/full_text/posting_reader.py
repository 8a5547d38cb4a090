"""Reads posting lists from FTS5: of terms, phrases and prefixes, whole or in part."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

import apsw

from recollectum.storage.full_text.tokenizer import TOKENIZER, cut_with
from recollectum.storage.port import Row
from recollectum.text.terms.analyser import Phrase

#: Up to this many postings of each term, one statement for all terms takes less time than one for each.
_FEW = 500
#: A temporary table of each connection; it stores no rows.
_OCCURRENCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences USING fts5vocab (main, search, instance)"
_OF_PHRASE = "SELECT json_group_array(rowid) FROM search WHERE search MATCH ?"
_SOME_OF_TERMS = """
    SELECT (SELECT json_group_array(doc) FROM (SELECT doc FROM temp.occurrences WHERE term = one.value LIMIT ?))
      FROM json_each(?) AS one
"""
# Of one term: for each posting it takes a sixth less time than inside another statement.
_SOME_OF_TERM = """
    SELECT json_group_array(doc) FROM (SELECT doc FROM temp.occurrences WHERE term = ? LIMIT ?)
"""
_SOME_OF_PHRASE = """
    SELECT json_group_array(number) FROM (SELECT rowid AS number FROM search WHERE search MATCH ? LIMIT ?)
"""
_NEWEST = """
      WITH met AS MATERIALIZED (
           SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
    SELECT json_group_array(number), (SELECT CASE count(*) WHEN ? THEN min(number) ELSE 0 END FROM met)
      FROM (SELECT number FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
             UNION SELECT rowid FROM search WHERE search MATCH ?
             UNION SELECT number FROM met)
"""
_BESIDE = """
    SELECT json_group_array(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ?
             UNION SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ?)
"""
_AMONG = """
    SELECT json_group_array(rowid) FROM search WHERE search MATCH ? AND rowid IN (SELECT value FROM json_each(?))
"""
_FIRST = """
    SELECT count(*), max(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?)
"""
_LAST = """
    SELECT count(*), min(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
"""


def quoted(phrase: Phrase) -> str:
    """Return a phrase quoted for FTS5, whatever punctuation is in its words."""
    words = '"' + phrase.words.replace('"', '""') + '"'
    return f"{words} *" if phrase.prefix else words


def _is_prefix(expression: str) -> bool:
    """Return whether a quoted phrase ends with a prefix."""
    return expression.endswith("*")


def match_any(phrases: Iterable[str]) -> str:
    """Return a MATCH expression for any of the quoted phrases."""
    return " OR ".join(phrases)


def _match_both(phrase: str, others: Sequence[str]) -> str:
    """Return a MATCH expression for the phrase with any of the others; without others it matches nothing."""
    return f"{phrase} AND ({match_any(others)})" if others else '""'


def create_vocabulary(connection: apsw.Connection) -> None:
    """Create the vocabulary table of a connection; call it before the connection is used, or may only read."""
    connection.execute(_OCCURRENCES)


def has_text_index(connection: apsw.Connection) -> bool:
    """Return whether the database has a text index: a vault does, a catalog does not."""
    return bool(fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'search'", ()))


def fetch(connection: apsw.Connection, sql: str, params: Sequence[int | str]) -> list[Row]:
    """Run a statement, and return its rows."""
    return cast(list[Row], connection.execute(sql, params).fetchall())


class PostingReader:
    """The posting lists of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tokenize = connection.fts5_tokenizer(*TOKENIZER)
        #: The terms of the phrases that were asked for; the lists of most are read twice.
        self._terms: dict[str, str | None] = {}

    def some(self, phrases: Iterable[str], most: int) -> dict[str, str]:
        """Return the first `most` postings of each phrase, or all."""
        known = self._terms
        terms = {phrase: known[phrase] if phrase in known else self._term(phrase) for phrase in phrases}
        known.update(terms)
        found = self._some_of_terms({phrase: term for phrase, term in terms.items() if term is not None}, most)
        return {
            phrase: found[phrase] if term is not None else self._one(_SOME_OF_PHRASE, phrase, most)
            for phrase, term in terms.items()
        }

    def _some_of_terms(self, terms: Mapping[str, str], most: int) -> dict[str, str]:
        """Return the first `most` postings of phrases of one term each."""
        if most > _FEW:
            return {phrase: self._one(_SOME_OF_TERM, term, most) for phrase, term in terms.items()}
        rows = fetch(self._connection, _SOME_OF_TERMS, (most, json.dumps([*terms.values()]))) if terms else []
        return {phrase: cast(str, row[0]) for phrase, row in zip(terms, rows, strict=True)}

    def newest(self, phrase: str, most: int, rare: Sequence[str], frequent: Sequence[str]) -> tuple[str, int]:
        """Return the newest chunks with a phrase, its newest ones with a frequent phrase, and all with a rare phrase.

        Also return the oldest chunk that was compared with the frequent phrases; 0 if all were.
        """
        met, both = _match_both(phrase, frequent), _match_both(phrase, rare)
        return fetch(self._connection, _NEWEST, (met, most, most, phrase, most, both))[0]

    def beside(self, phrase: str, rare: Sequence[str], leading: Sequence[str], oldest: int) -> str:
        """Return the chunks that contain a phrase and a rare one, or, from the oldest, the leading one; each once."""
        if not leading:
            return self._one(_OF_PHRASE, _match_both(phrase, rare))
        return self._one(_BESIDE, _match_both(phrase, rare), _match_both(phrase, leading), oldest)

    def among(self, phrase: str, numbers: Collection[int]) -> str:
        """Return those of the chunks that contain a phrase, each once."""
        return self._one(_AMONG, phrase, json.dumps([*numbers]))

    def first(self, phrase: str, start: int, end: int, most: int) -> tuple[int, int]:
        """Count the oldest chunks of a range with a phrase, up to `most`, and return the count and the last of them."""
        count, last = fetch(self._connection, _FIRST, (phrase, start, end, most))[0]
        return count, last or 0

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """Count the newest chunks with a phrase, up to `most`, and return the count and the oldest of them."""
        count, oldest = fetch(self._connection, _LAST, (phrase, most))[0]
        return count, oldest or 0

    def _one(self, sql: str, *params: int | str) -> str:
        return fetch(self._connection, sql, params)[0][0]

    def _term(self, phrase: str) -> str | None:
        """Return the term if a phrase is a single one; None for several terms or a prefix."""
        if _is_prefix(phrase):
            return None
        found = cut_with(self._tokenize, phrase)
        return found[0] if len(found) == 1 else None
