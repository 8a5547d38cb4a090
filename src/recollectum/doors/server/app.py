"""The app of one running server: every door that speaks HTTP, behind one guard."""

import time
from collections.abc import Callable

from fastapi import FastAPI
from starlette.types import ASGIApp

from recollectum.doors.console.routes import add_console
from recollectum.doors.hook.routes import add_hook
from recollectum.doors.http.guard import Guard
from recollectum.doors.http.metrics import Measured, Metrics
from recollectum.doors.http.problems import add_problems
from recollectum.doors.http.serving import Serving
from recollectum.doors.mcp.mounting import add_mcp
from recollectum.doors.rest.routes import add_rest

#: Where forms of the console are posted to; each a path, or all below one that ends with a slash.
FORM_PATHS: tuple[str, ...] = ("/login", "/console/")


class ServedApp(FastAPI):
    """The app, with the guard around all of it: also around what answers when something fails."""

    def __init__(self, serving: Serving, clock: Callable[[], float]) -> None:
        super().__init__(title="Recollectum", docs_url=None, redoc_url=None, openapi_url=None)
        self.state.serving = serving
        self.state.metrics = Metrics()
        self._clock = clock

    def build_middleware_stack(self) -> ASGIApp:
        """The framework's layers, and ours outside of them."""
        serving: Serving = self.state.serving
        guarded = Guard(super().build_middleware_stack(), serving.limits, self._clock, FORM_PATHS)
        return Measured(guarded, self.state.metrics)


def build_app(serving: Serving, *, clock: Callable[[], float] = time.monotonic) -> FastAPI:
    """Every route of one server; nothing is listening yet."""
    app = ServedApp(serving, clock)
    add_problems(app)
    add_rest(app)
    add_mcp(app, serving)
    add_hook(app)
    add_console(app, serving)
    return app
