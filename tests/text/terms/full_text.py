"""A real FTS5 table with the tokenizer that the terms are made for."""

from collections.abc import Iterable

import apsw

from recollectum.storage.sqlite.full_text.posting_reader import match_any, quoted
from recollectum.text.terms.analyser import index_terms, phrases, query_terms

TOKENIZER = "porter unicode61 remove_diacritics 2"


class FullText:
    """Texts in memory, found the way the product finds them."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(terms, tokenize='{TOKENIZER}')")
        self.texts: list[str] = []
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.texts.append(text)
            self._connection.execute("INSERT INTO texts (terms) VALUES (?)", (index_terms(text),))

    def replace(self, text: str) -> None:
        """Hold this text alone."""
        self._connection.execute("DELETE FROM texts")
        self._connection.execute("INSERT INTO texts (rowid, terms) VALUES (1, ?)", (index_terms(text),))
        self.texts = [text]

    def find(self, query: str) -> list[str]:
        """The texts that match, best first."""
        expression = match_any(map(quoted, phrases(query_terms(query))))
        if not expression:
            return []
        rows = self._connection.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank", (expression,))
        return [self.texts[int(str(row[0])) - 1] for row in rows]
