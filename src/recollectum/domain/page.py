"""Page: one part of a long list, and the cursor that leads to the next part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NewType, TypeVar

from recollectum.domain.errors import InvalidInput

T = TypeVar("T")

#: Where a page begins. It is opaque: take it from a page and pass it to the same method.
Cursor = NewType("Cursor", str)
#: The largest row number. A page without a cursor begins below it: with a condition that is true for a missing cursor,
#: no index would be used.
LAST_NUMBER = 2**63 - 1
#: Sorts after every id. A page without a cursor begins before it.
AFTER_IDS = "\x7f"


class Page(list[T]):
    """The items of one page in order, and the cursor of the next page."""

    def __init__(self, items: Iterable[T] = (), next: Cursor | None = None) -> None:
        super().__init__(items)
        #: The cursor of the next page; None on the last page.
        self.next = next


def cut_page(found: Sequence[T], limit: int, place: Callable[[T], str | int]) -> Page[T]:
    """Return the first `limit` items found; if there are more, the cursor is the place of the last one shown."""
    shown = found[:limit]
    return Page(shown, Cursor(str(place(shown[-1]))) if len(found) > limit else None)


def number_of(cursor: str | None) -> int | None:
    """Return the row number in a cursor of a list ordered by number."""
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdecimal() or int(cursor) > LAST_NUMBER:
        raise InvalidInput(f"cursor {cursor!r} was not returned by a page; use the `next` of a page")
    return int(cursor)


def every(load: Callable[[Cursor | None], Page[T]]) -> Iterator[T]:
    """Yield the items of all pages: `every(lambda cursor: vault.memories.list(cursor=cursor))`."""
    cursor: Cursor | None = None
    while True:
        page = load(cursor)
        yield from page
        if page.next is None:
            return
        cursor = page.next
