"""Reads a list of the server page by page, until as many items are there as were asked for."""

import base64
from collections.abc import Mapping
from typing import TypeVar

from recollectum.domain.errors import InvalidInput
from recollectum.domain.page import Cursor, Page
from recollectum.doors.remote.decoding import decode_list
from recollectum.doors.remote.link import ServerLink

T = TypeVar("T")
#: The most items that a server sends at once, and that one command asks for.
_PAGE = 500
_MOST = 100_000


def load_page(
    link: ServerLink,
    path: str,
    name: str,
    kind: type[T],
    query: Mapping[str, object],
    *,
    cursor: str | None,
    limit: int,
    newest_last: bool = False,
) -> Page[T]:
    """Return the first items of a list, and the cursor of the next page; `newest_last` for messages, in order."""
    if not 1 <= limit <= _MOST:
        raise InvalidInput(f"limit is {limit}; it must be from 1 to {_MOST}")
    made: list[T] = []
    place = None if cursor is None else _encoded(name, cursor)
    while True:
        asked = {**query, "limit": min(_PAGE, limit - len(made)), "cursor": place}
        found = link.get(path, asked)
        items = decode_list(kind, found.get(name), name)
        made = [*items, *made] if newest_last else [*made, *items]
        following = found.get("next")
        place = following if isinstance(following, str) else None
        if place is None or len(made) >= limit or not items:
            return Page(made, None if place is None else Cursor(_decoded(place)))


def _encoded(name: str, place: str) -> str:
    return base64.urlsafe_b64encode(f"{name}:{place}".encode()).decode().rstrip("=")


def _decoded(cursor: str) -> str:
    """Return the place in a cursor; a cursor in another form stays as it is."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        return cursor
    return text.partition(":")[2]
