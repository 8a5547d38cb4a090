"""Pages: a cursor is where the last page ended, in a form that nobody is to read; new rows never move it."""

import base64
import binascii
from typing import Annotated

from fastapi import Query

from recollectum.domain.errors import NotFound

MOST = 500
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
CursorQuery = Annotated[
    str | None, Query(max_length=512, description="`next` of the page before; left out, the first page.")
]


def to_cursor(of: str, place: str | int) -> str:
    """The cursor that follows a place in one list."""
    return base64.urlsafe_b64encode(f"{of}:{place}".encode()).decode().rstrip("=")


def from_cursor(of: str, cursor: str | None) -> str | None:
    """The place that a cursor stands for; one of another list, or of nobody's, is not there."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise _unknown() from None
    name, _, place = text.partition(":")
    if name != of or not place:
        raise _unknown()
    return place


def number_of(of: str, cursor: str | None) -> int | None:
    """The same for a list that counts its rows."""
    place = from_cursor(of, cursor)
    if place is None:
        return None
    if not (place.isascii() and place.isdigit() and len(place) < 19):
        raise _unknown()
    return int(place)


def _unknown() -> NotFound:
    return NotFound("there is no page at that cursor; begin again without one")
