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
    """Two memories have the same when they would be shown the same."""
    shown = json.dumps(to_json(memory), sort_keys=True).encode("utf-8", "replace")
    return f'"{memory.version}-{hashlib.sha256(shown).hexdigest()[:16]}"'


def check_match(memory: Memory, if_match: str | None) -> None:
    """Refuse when the header names other states of the memory than this one."""
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
    """Do the work, unless it was done under that key, and show what came of it.

    What is kept of the work are ids and words of ours, never content: it is shown as it stands now.
    """
    if key is None:
        return show(work())
    done, known = visitor.recollectum.idempotency.once(key, request, work)
    answer = show(done)
    if known:
        answer.headers[REPLAYED] = "true"
    return answer


def request_fingerprint(path: str, body: str, owner: str | None) -> bytes:
    """What makes two requests the same: where they go, for whom, and what they hold."""
    return "\n".join((path, owner or "", body)).encode("utf-8", "replace")
