"""Cuts texts into terms with FTS5's own tokenizer, so that every engine has the same terms and stems."""

import threading
from collections.abc import Iterable
from typing import Final, cast

import apsw

#: The tokenizer of the index, as the SQLite migration declares it; queries must use the same.
TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])


class _Connections(threading.local):
    """The tokenizer of each thread, on a database in memory: a connection must not be used by two threads at once."""

    def __init__(self) -> None:
        self.tokenize = apsw.Connection(":memory:").fts5_tokenizer(*TOKENIZER)


_CONNECTIONS = _Connections()


def cut_terms(text: str) -> list[str]:
    """Return the terms of a text, in order."""
    return cut_with(_CONNECTIONS.tokenize, text)


def cut_with(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    """Return the terms of a text by the tokenizer of some connection."""
    found = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    return cast(list[str], found)


def stems_of(tokenizer: apsw.FTS5Tokenizer, texts: Iterable[str]) -> list[str]:
    """Return the terms of each text, separated by spaces."""
    return [" ".join(cut_with(tokenizer, text)) for text in texts]
