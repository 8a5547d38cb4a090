"""Bounds the shape of a JSON body before it is parsed: fields of one object, values in all, and depth.

A body of a few megabytes can hold hundreds of thousands of fields, and to parse and check them would hold up everybody
else. The text is looked through once and no further than the first bound that it breaks.
"""

import re
from collections.abc import AsyncIterator, Iterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import Message, Receive

from recollectum.domain.errors import InvalidInput

MOST_FIELDS = 1_000
MOST_VALUES = 50_000
DEEPEST = 64
#: A shorter body is looked through at once; a thread would take longer.
_SHORT = 8_192
# A whole string, or one mark of the structure; a string that does not end is not JSON, and ends the look.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|"', re.DOTALL)
_OPENING = (b"{", b"[")
_CLOSING = (b"}", b"]")
_BEGINS_VALUE = (b",", *_OPENING)


def check_shape(body: bytes) -> None:
    """Refuse a body with too many fields in one object, too many values in all, or too deep a nesting."""
    values = 0
    #: The fields so far of each object or list that is open.
    fields: list[int] = []
    for mark in _marks(body):
        values += mark in _BEGINS_VALUE
        if values > MOST_VALUES:
            raise InvalidInput(f"the body has more than {MOST_VALUES} values; send it in parts")
        _count(mark, fields)


def _count(mark: bytes, fields: list[int]) -> None:
    if mark in _OPENING:
        fields.append(0)
        if len(fields) > DEEPEST:
            raise InvalidInput(f"the body is nested more than {DEEPEST} deep; flatten it")
    elif fields and mark in _CLOSING:
        fields.pop()
    elif fields and mark == b":":
        fields[-1] += 1
        if fields[-1] > MOST_FIELDS:
            raise InvalidInput(f"an object of the body has more than {MOST_FIELDS} fields; send fewer")


def _marks(body: bytes) -> Iterator[bytes]:
    """Return the marks of the structure, in order, without those inside strings."""
    for found in _TOKEN.finditer(body):
        mark = found[0]
        if mark == b'"':
            # The parser says what is wrong with it.
            return
        if len(mark) == 1:
            yield mark


async def check_body(request: Request) -> None:
    """Refuse the body of a request that has a shape past the bounds."""
    body = await request.body()
    await _checked(body)


async def checked_receive(receive: Receive) -> Receive:
    """Read a whole body, check it, and hand it on as it came."""
    messages = [one async for one in _until_whole(receive)]
    await _checked(b"".join(one.get("body", b"") for one in messages))
    waiting = iter(messages)

    async def replay() -> Message:
        return next(waiting, None) or await receive()

    return replay


async def _until_whole(receive: Receive) -> AsyncIterator[Message]:
    while True:
        message = await receive()
        yield message
        if message["type"] != "http.request" or not message.get("more_body"):
            return


async def _checked(body: bytes) -> None:
    if len(body) <= _SHORT:
        check_shape(body)
    else:
        await run_in_threadpool(check_shape, body)
