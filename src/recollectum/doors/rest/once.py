"""Once: a request with an idempotency key is done once, and answered again from what is there."""

from collections.abc import Callable, Mapping

from fastapi.responses import Response

from recollectum.domain.message import Json
from recollectum.doors.http.visitor import Visitor

Done = Mapping[str, Json]
REPLAYED = "Idempotency-Replayed"


def once(
    visitor: Visitor, key: str | None, request: bytes, work: Callable[[], Done], show: Callable[[Done], Response]
) -> Response:
    """Do the work, unless it was done under that key, and show what came of it.

    What is kept of the work are ids and words of ours, never content: it is shown as it stands now.
    """
    if key is None:
        return show(work())
    done, known = visitor.recollectum.repeats.once(key, request, work)
    answer = show(done)
    if known:
        answer.headers[REPLAYED] = "true"
    return answer


def request_of(path: str, body: str, owner: str | None) -> bytes:
    """What makes two requests the same: where they go, for whom, and what they hold."""
    return "\n".join((path, owner or "", body)).encode("utf-8", "replace")
