"""Refuses texts that not every engine can store or compare, in the same words on all of them."""

import json
from collections.abc import Iterable

from recollectum.domain.errors import InvalidInput
from recollectum.storage.port import Params

NO_TEXT = "the given id or name contains a character that no text may hold; correct it"
HALF_A_CHARACTER = "the given id or name is not valid text: it contains half of a character; correct it"


def check_params(params: Params) -> None:
    """Raise for a text with a NUL: SQLite would store it, and PostgreSQL has no such text."""
    for value in params.values():
        if isinstance(value, str) and "\0" in value:
            raise InvalidInput(NO_TEXT)


def listed(texts: Iterable[str]) -> str:
    """Return texts that a caller gave as the list parameter of a statement."""
    given = list(texts)
    for one in given:
        check_compared(one)
    return json.dumps(given)


def check_compared(text: str) -> None:
    """Raise for a text that no stored one equals or begins with, because it cannot be stored."""
    check_params({"text": text})
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(HALF_A_CHARACTER) from None
