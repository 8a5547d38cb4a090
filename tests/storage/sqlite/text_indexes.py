"""A full-text index as a vault has it, and what FTS5 itself finds in it."""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import apsw

from recollectum.storage.port import Matches
from recollectum.storage.sqlite.full_text.document_lengths import DocumentLengths
from recollectum.storage.sqlite.full_text.posting_reader import create_vocabulary
from recollectum.storage.sqlite.full_text.text_index import SqliteTextIndex
from recollectum.text.terms.analyser import Phrase

_TABLE = """
    CREATE VIRTUAL TABLE search USING fts5 (
        terms, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    )
"""
_RANKED = "SELECT rowid, -rank FROM search WHERE search MATCH ?"


class Indexed:
    """An index on a connection of its own."""

    def __init__(self, chunks: Iterable[tuple[int, str]] = (), path: Path | None = None) -> None:
        self.connection = apsw.Connection(str(path) if path else ":memory:")
        self.connection.execute(_TABLE)
        create_vocabulary(self.connection)
        self.add(chunks)

    @property
    def index(self) -> SqliteTextIndex:
        """The index as one that was just opened has it."""
        return SqliteTextIndex(self.connection, DocumentLengths())

    def add(self, chunks: Iterable[tuple[int, str]]) -> None:
        """Index chunks in one transaction."""
        with self.connection:
            self.index.add(chunks)

    def exactly(self, expression: str) -> dict[int, float]:
        """Every chunk that FTS5 finds, with its own score."""
        rows = cast(list[tuple[int, float]], self.connection.execute(_RANKED, (expression,)).fetchall())
        return dict(rows)


def scored(matches: Matches) -> dict[int, float]:
    """Everything that was found, best first."""
    best = matches.best(len(matches))
    found = matches.scores(best)
    return {number: found[number] for number in best}


def in_order(scores: dict[int, float]) -> list[int]:
    """The chunks best first, ties to the newer."""
    return sorted(scores, key=lambda number: (-scores[number], -number))


def phrase_of(expression: str) -> Phrase:
    """The phrase that FTS5 knows as a quoted text, with or without a star."""
    words, star, _ = expression.partition(" *")
    return Phrase(words.strip('"'), prefix=bool(star))
