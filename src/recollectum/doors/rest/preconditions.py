"""Checks If-Match against a memory's ETag, and runs a request with an Idempotency-Key once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from fastapi.responses import Response

from recollectum.domain.errors import Denied
from recollectum.domain.memory import Memory
from recollectum.domain.message import Json
from recollectum.domain.notice import NO_NOTICE
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
T = TypeVar("T")


def run_once(
    visitor: Visitor,
    key: str | None,
    request: bytes,
    work: Callable[[], tuple[StoredResult, T]],
    again: Callable[[StoredResult], T],
    show: Callable[[StoredResult, T], Response],
) -> Response:
    """Run the work and show what it returned; read the result again when it was done with that idempotency key.

    Only ids and words of ours are stored of the work, never content. A new result is not read back: a rule that denies
    the reading would make it look refused.
    """
    if key is None:
        return show(*work())
    made: list[T] = []

    def noted() -> StoredResult:
        stored, result = work()
        made.append(result)
        return stored

    done, known = visitor.recollectum.idempotency.once(key, request, noted)
    answer = show(done, made[0] if made else _read_again(done, again))
    if known:
        answer.headers[REPLAYED] = "true"
    return answer


def noted(done: StoredResult) -> Json:
    """Return the notice of a stored result, for the answer."""
    return done.get("notice", to_json(NO_NOTICE))


def _read_again(done: StoredResult, again: Callable[[StoredResult], T]) -> T:
    try:
        return again(done)
    except Denied as error:
        raise Denied(
            f"a request with this Idempotency-Key was done, but its answer may not be shown again: {error}"
        ) from None


def request_fingerprint(path: str, body: str, owner: str | None) -> bytes:
    """Return what makes two requests the same: target, person and body."""
    return "\n".join((path, owner or "", body)).encode("utf-8", "replace")
