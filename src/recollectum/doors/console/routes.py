"""Adds the pages and static files of the console to the app."""

import hashlib
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from recollectum.domain.errors import NotFound
from recollectum.domain.ids import Clock, system_clock
from recollectum.doors.console import (
    context,
    conversations,
    health,
    memories,
    privacy,
    review,
    search,
    sign_in,
    timeline,
)
from recollectum.doors.console.agent_state import state_page, tasks
from recollectum.doors.console.home_pages import extensions, start
from recollectum.doors.console.memory_lists import bulk
from recollectum.doors.console.page_requests import new_router
from recollectum.doors.console.sign_in_desk import SignInDesk
from recollectum.doors.http.server_state import ServerState

_FOLDER = Path(__file__).parent / "static"
_FILES = {"console.css": "text/css", "console.js": "text/javascript", "mark.svg": "image/svg+xml"}


def add_console(app: FastAPI, serving: ServerState, *, clock: Clock = system_clock) -> None:
    """Add the pages of the console to the app: search at `/`, the others below `/console`."""
    app.state.serving = serving
    app.state.console_desk = SignInDesk(clock)
    pages = (sign_in, search, start, bulk, memories, conversations, review, timeline, context, state_page, tasks)
    for page in (*pages, privacy, extensions, health):
        app.include_router(page.router)
    files = new_router()
    files.get("/static/{name}")(_file)
    app.include_router(files)


def _file(request: Request, name: str) -> Response:
    """Return one of the three files that pages load."""
    if name not in _FILES:
        raise NotFound(f"there is no file {name!r} in the console")
    data = (_FOLDER / name).read_bytes()
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(data, media_type=_FILES[name], headers={"etag": tag})
