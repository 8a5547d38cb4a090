"""Answers: how a route's document is sent, and how OpenAPI tells of it and of every refusal."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import Response
from pydantic import BaseModel

from recollectum.doors.http.problems import MEDIA_TYPE
from recollectum.doors.shapes import to_json

#: What any route may answer instead.
_REFUSALS: Mapping[int, str] = {
    400: "The request cannot be read.",
    401: "No key, or one that is not known here.",
    403: "The key may not do this, or another site asked.",
    404: "There is no such thing for this key.",
    409: "It changed, the name is taken, or its state does not allow the step.",
    412: "If-Match names another version.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    421: "The server is not called by that name.",
    422: "The request does not have the form that is asked for.",
    429: "Too many requests; Retry-After says when to ask again.",
    503: "Others hold the files; ask again.",
}
PROBLEM_REF: Mapping[str, str] = {"$ref": "#/components/schemas/Problem"}
Responses = dict[int | str, dict[str, Any]]


class ErrorPlace(BaseModel):
    """One value of the request that cannot be used."""

    detail: str


class Problem(BaseModel):
    """An error after RFC 9457; it never repeats what was sent."""

    type: str
    status: int
    title: str
    detail: str | None = None
    errors: list[ErrorPlace] | None = None


def document(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of ours as the JSON body."""
    # Not the framework's way, which looks at every value twice: ours are plain already.
    body = json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    sent = dict(headers or {})
    return Response(body.encode("utf-8", "replace"), status_code=status, media_type="application/json", headers=sent)


def described(model: type[BaseModel] | None, *, status: int = 200, more: Responses | None = None) -> Responses:
    """What a route answers, for OpenAPI."""
    found: Responses = {status: {"model": model, "description": "Done."}} if model else {}
    for code, words in _REFUSALS.items():
        found[code] = {"description": words, "content": {MEDIA_TYPE: {"schema": dict(PROBLEM_REF)}}}
    return found | (more or {})
