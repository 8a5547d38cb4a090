"""Checks If-Match against a memory's ETag, and runs a request with an Idempotency-Key once."""

import hashlib
import json
from collections.abc import Callable, Mapping

from fastapi.responses import Response

from recollectum.domain.memory import Memory
from recollectum.domain.message import Json
from recollectum.doors.http.authentication import Visitor
from recollectum.doors.http.problems import PreconditionFailed
from recollectum.doors.json_values import to_json


def etag_of(memory: Memory) -> str:
    """Return the ETag of a memory; two memories have the same when they would be shown the same."""
    shown = json.dumps(to_json(memory), sort_keys=True).encode("utf-8", "replace")
    return f'"{memory.version}-{hashlib.sha256(shown).hexdigest()[:16]}"'


def check_match(memory: Memory, if_match: str | None) -> None:
    """Raise when the header names other states of the memory than this one."""
    if if_match is None or if_match.strip() == "*":
        return
    if etag_of(memory) not in (one.strip() for one in if_match.split(",")):
        raise PreconditionFailed("the memory changed since it was read; read it again")


StoredResult = Mapping[str, Json]
REPLAYED = "Idempotency-Replayed"


def run_once(
    visitor: Visitor,
    key: str | None,
    request: bytes,
    work: Callable[[], StoredResult],
    show: Callable[[StoredResult], Response],
) -> Response:
    """Run the work, unless it was done with that idempotency key, and show the result.

    Only ids and words of ours are stored of the work, never content: the result is shown in its current state.
    """
    if key is None:
        return show(work())
    done, known = visitor.recollectum.idempotency.once(key, request, work)
    answer = show(done)
    if known:
        answer.headers[REPLAYED] = "true"
    return answer


def request_fingerprint(path: str, body: str, owner: str | None) -> bytes:
    """Return what makes two requests the same: target, person and body."""
    return "\n".join((path, owner or "", body)).encode("utf-8", "replace")
