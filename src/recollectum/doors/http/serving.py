"""Serving: the open home behind one running server, as its operator."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from starlette.requests import HTTPConnection

from recollectum.doors.http.limits import Limits
from recollectum.engine import Recollectum


@dataclass(frozen=True, slots=True)
class Serving:
    """What every route of one server stands on."""

    recollectum: Recollectum
    #: 256 bits, new at each start; only who can read the home's files has it.
    local_token: str
    limits: Limits
    started_at: datetime


def serving_of(request: HTTPConnection) -> Serving:
    """The home that a request is served from."""
    return cast("Serving", request.app.state.serving)
