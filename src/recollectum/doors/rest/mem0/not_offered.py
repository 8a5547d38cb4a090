"""Refuses the routes of mem0's client that have no meaning on a vault, each with its reason."""

from collections.abc import Callable, Mapping
from typing import NoReturn

from fastapi import APIRouter

from recollectum.domain.errors import NotFound
from recollectum.doors.http.authentication import KeyedRoute

_BY_SCHEMA = "an export by a schema needs a language model; `GET /v1/exports/memories` exports everything"
#: By route; the documentation has the same reasons.
REASONS: Mapping[str, str] = {
    "POST /v1/exports/": _BY_SCHEMA,
    "POST /v1/exports/get/": _BY_SCHEMA,
    "POST /v1/summary/": "there is no summary of an export; `POST /v1/context` says what matters for a query",
    "POST /v1/feedback/": "no ranking learns from feedback; change or delete the memory",
    "GET /v2/entities/user/{entity_id}/profile/": "a profile has points and no schema; `GET /v1/profile` returns it",
    "POST /v2/profiles/jobs/": "the server keeps profiles up to date by itself; `GET /v1/profile` returns one",
    "GET /v2/profiles/jobs/{job_id}/": "the server keeps profiles up to date by itself; `GET /v1/profile` returns one",
    "GET /v2/profiles/settings/": "profiles have no settings of a project; `recollectum settings` lists the settings",
    "POST /v2/profiles/settings/": "profiles have no settings of a project; `recollectum settings` lists the settings",
    **{
        f"{method} /api/v1/orgs/{{rest:path}}": "there are no organisations and projects; settings are the server's"
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    },
    **{
        f"{method} /api/v1/webhooks/{{rest:path}}": "nothing is sent to other servers; `GET /v1/events` tells changes"
        for method in ("GET", "POST", "PUT", "DELETE")
    },
}


def _refusing(reason: str) -> Callable[[], NoReturn]:
    def refuse() -> NoReturn:
        raise NotFound(f"this route of mem0 is not offered: {reason}")

    return refuse


def _router() -> APIRouter:
    made = APIRouter(route_class=KeyedRoute, include_in_schema=False)
    for route, reason in REASONS.items():
        method, _, path = route.partition(" ")
        made.add_api_route(path, _refusing(reason), methods=[method], response_model=None)
    return made


router = _router()
