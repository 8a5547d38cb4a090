"""`POST /local/embed`: the daemon's model, for other processes of the account that owns the home."""

import hmac
import json
from collections.abc import Mapping, Sequence
from typing import cast

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from recollectum.domain.embedder import Purpose
from recollectum.domain.errors import InvalidInput, ModelMissing
from recollectum.doors.http.serving import Serving, serving_of
from recollectum.doors.http.visitor import Unauthenticated, bearer
from recollectum.models.port import Wrapper
from recollectum.models.shared import PATH, pack

_MOST_TEXTS = 256


def add_embedding(app: FastAPI) -> None:
    """Give the route to the app; it is no part of the public interface."""
    app.add_route(PATH, _embed, methods=["POST"], include_in_schema=False)


async def _embed(request: Request) -> Response:
    serving = serving_of(request)
    # No API key will do: it is for programs that can read the home's files anyway.
    if not hmac.compare_digest(bearer(request).encode(), serving.local_token.encode()):
        raise Unauthenticated
    texts, purpose = _wanted(await request.body())
    return JSONResponse(await run_in_threadpool(_answer, serving, texts, purpose))


def _answer(serving: Serving, texts: Sequence[str], purpose: Purpose) -> dict[str, object]:
    embedder, why = serving.recollectum.grounds().embedder()
    while isinstance(embedder, Wrapper):
        # The model itself: what caches round, the asker's own cache rounds.
        embedder = embedder.inner
    if embedder is None or embedder.identity.provider != "local":
        raise ModelMissing(why or "this daemon has no model of its own; let the process that asks use its own")
    rows = embedder.embed(texts, purpose)
    return {"identity": embedder.identity.text_key(), "vectors": pack(rows)}


def _wanted(body: bytes) -> tuple[list[str], Purpose]:
    try:
        fields = cast("Mapping[str, object]", json.loads(body))
        texts, purpose = fields["texts"], Purpose(str(fields["purpose"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("the body is not what a process of this home sends; give texts and a purpose") from None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in cast("list[object]", texts)):
        raise InvalidInput("texts is not a list of texts; give one")
    given = cast("list[str]", texts)
    if len(given) > _MOST_TEXTS:
        raise InvalidInput(f"there are {len(given)} texts, and at most {_MOST_TEXTS} are taken at once; send fewer")
    return given, purpose
