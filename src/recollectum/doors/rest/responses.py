"""Sends JSON responses, describes them for OpenAPI, and encodes page cursors."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel

from recollectum.domain.errors import NotFound
from recollectum.domain.page import Cursor
from recollectum.doors.http.problems import MEDIA_TYPE
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.response_schemas import JsonSchema, Shape, schema_of

#: What any route may answer instead.
_REFUSALS: Mapping[int, str] = {
    400: "The request cannot be read.",
    401: "No API key, or an unknown one.",
    403: "The key does not allow this, or it was a cross-site request.",
    404: "Not found for this key.",
    409: "The resource changed, the name is taken, or the state does not allow the step.",
    412: "If-Match names another version.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    421: "The host name is not allowed; add it to server.hosts.",
    422: "The request does not match the schema.",
    429: "Too many requests; Retry-After says when to try again.",
    503: "The files are busy; try again.",
}
PROBLEM_REF: Mapping[str, str] = {"$ref": "#/components/schemas/ProblemDocument"}
Responses = dict[int | str, dict[str, Any]]


class ErrorPlace(BaseModel):
    """One value of the request that cannot be used."""

    detail: str


class ProblemDocument(BaseModel):
    """An error according to RFC 9457; it never repeats what was sent."""

    type: str
    status: int
    title: str
    detail: str | None = None
    errors: list[ErrorPlace] | None = None


def json_response(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value of ours as a JSON response."""
    # Not by the framework, which checks every value twice: ours are plain already.
    body = json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    sent = dict(headers or {})
    return Response(body.encode("utf-8", "replace"), status_code=status, media_type="application/json", headers=sent)


def describe_body(shape: Shape, words: str) -> dict[str, Any]:
    """Return one JSON response for OpenAPI; its classes are under `$defs`."""
    components: JsonSchema = {}
    schema = schema_of(shape, components)
    return {"description": words, "content": {"application/json": {"schema": {**schema, "$defs": components}}}}


def describe_responses(shape: Shape | None, *, more: Responses | None = None) -> Responses:
    """Return the responses of a route for OpenAPI: a class or the fields of the body, and the errors."""
    found: Responses = {200: describe_body(shape, "Done.")} if shape else {}
    for code, words in _REFUSALS.items():
        found[code] = {"description": words, "content": {MEDIA_TYPE: {"schema": dict(PROBLEM_REF)}}}
    return found | (more or {})


MOST = 500
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
CursorQuery = Annotated[
    str | None, Query(max_length=512, description="`next` of the previous page; default: the first page.")
]


def encode_cursor(of: str, place: Cursor | None) -> str | None:
    """Return the cursor of the next page of one list; None when there is none."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(f"{of}:{place}".encode()).decode().rstrip("=")


def decode_cursor(of: str, cursor: str | None) -> str | None:
    """Return the position in a cursor; raise for a cursor of another list, or an invalid one."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise _unknown_cursor() from None
    name, _, place = text.partition(":")
    if name != of or not place:
        raise _unknown_cursor()
    return place


def decode_row_cursor(of: str, cursor: str | None) -> str | None:
    """Return the position in a cursor of a list ordered by row number."""
    place = decode_cursor(of, cursor)
    if place is None:
        return None
    if not (place.isascii() and place.isdigit() and len(place) < 19):
        raise _unknown_cursor()
    return place


def _unknown_cursor() -> NotFound:
    return NotFound("there is no page at that cursor; start again without one")
