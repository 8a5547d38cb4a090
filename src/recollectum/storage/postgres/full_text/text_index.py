"""The full-text index of one transaction: adds and removes chunks, and finds those with the phrases of a question."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from recollectum.storage.full_text.tokenizer import cut_terms
from recollectum.storage.port import Matches, Params, Row
from recollectum.storage.postgres.full_text.token_cache import TokenCache
from recollectum.storage.postgres.full_text.token_lists import TokenLists
from recollectum.storage.postgres.full_text.tokens import KnownTokens, pack_each
from recollectum.storage.row_lists import Columns
from recollectum.text.terms.analyser import Phrase

_ADD = """
    INSERT INTO search (number, stamp, terms) VALUES (:number, :stamp, :terms)
    ON CONFLICT (number) DO UPDATE SET stamp = excluded.stamp, terms = excluded.terms
"""
# The row stays without its terms, so that other processes learn of the removal.
_REMOVE = """
    UPDATE search SET stamp = :stamp, terms = NULL
     WHERE terms IS NOT NULL AND number IN (SELECT value FROM numbers(:numbers))
"""
_COUNT = "SELECT count(*) FROM search WHERE terms IS NOT NULL"
#: So many rows are sent at once.
_MOST_UNSENT = 500


class _Tx(Protocol):
    """What the index asks of its transaction."""

    def rows(self, sql: str, params: Params) -> list[Row]: ...

    def run(self, sql: str, params: Params) -> int: ...

    def add_rows(self, sql: str, rows: Sequence[Params]) -> list[Row]: ...


class PostgresTextIndex:
    """The `search` table in one transaction; its numbers are chunk numbers.

    `changes` is the number of changes that this transaction sees; that of a writer counts its own, and stamps its rows.
    """

    def __init__(self, tx: _Tx, cache: TokenCache, changes: int, *, writes: bool) -> None:
        self._tx = tx
        self._cache = cache
        self._changes = changes
        self._writes = writes
        self._lists: TokenLists | None = None
        #: The rows that were added and not yet sent: many chunks take one statement, also if they come one by one.
        self._unsent: dict[int, bytes] = {}
        self._known = KnownTokens()

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk; the rows are sent with `flush` at the latest."""
        self._lists = None
        added = [*entries]
        packed = pack_each([terms for _, terms in added], self._known)
        self._unsent.update(zip([number for number, _ in added], packed, strict=True))
        if len(self._unsent) >= _MOST_UNSENT:
            self.flush()

    def flush(self) -> None:
        """Send the rows that were added; the transaction calls it before it is committed."""
        if self._unsent:
            stamps = [self._changes] * len(self._unsent)
            rows = Columns({"number": [*self._unsent], "stamp": stamps, "terms": [*self._unsent.values()]})
            self._tx.add_rows(_ADD, rows)
            self._unsent.clear()

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove these chunks from the index."""
        self._lists = None
        self.flush()
        if gone := [*numbers]:
            self._tx.run(_REMOVE, {"stamp": self._changes, "numbers": json.dumps(gone)})

    def matches(self, phrases: Sequence[Phrase], *, among: Collection[int] | None = None) -> Matches:
        """Return the chunks that contain any of the phrases; in a large index only candidates for the best.

        With `among` return at least all of these chunks that do.
        """
        if self._lists is None:
            self.flush()
            find = self._cache.uncommitted if self._writes else self._cache.committed
            self._lists = find(self._tx, self._changes)
        return self._lists.matches(phrases, among)

    def stems(self, texts: Iterable[str]) -> list[str]:
        """Return the words of each text as the index stores them, separated by spaces."""
        return [" ".join(cut_terms(text)) for text in texts]

    @property
    def parts(self) -> int:
        """Return 1: each token has one list."""
        return 1

    def scrub(self, *, pages: int | None = None) -> bool:
        """Forget the tokens in memory; dead rows of the table are the server's, which vacuums them."""
        if pages is None:
            self._lists = None
            self._cache.clear()
        return False

    def count(self) -> int:
        """Return the number of indexed chunks."""
        self.flush()
        return self._tx.rows(_COUNT, {})[0][0]
