"""Counts requests and their latency by route, for Prometheus, and shows the numbers of the database beside them."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollectum.domain.telemetry.figure import Figure

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ELSEWHERE = "other"


Figures = Callable[[], Iterable[Figure]]


class _FigureCollector(Collector):
    """Reads the numbers of the database when they are asked for."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Return one metric for each figure."""
        for one in self._figures():
            kind = CounterMetricFamily if one.grows else GaugeMetricFamily
            family = kind(f"recollectum_{one.name}", one.words, labels=[one.label] if one.label else [])
            for value, number in one.values.items():
                family.add_metric([value] if one.label else [], number)
            yield family


class Metrics:
    """The metrics of one server, in a separate registry."""

    def __init__(self, figures: Figures = tuple) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_FigureCollector(figures))
        self._requests = Counter(
            "recollectum_requests",
            "Requests by route and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "recollectum_request_seconds",
            "How long requests took.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Record one request."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def rendered(self) -> bytes:
        """Return the metrics in Prometheus format."""
        return generate_latest(self._registry)


class MetricsMiddleware:
    """The layer around the app that counts requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request when its answer is sent."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = self._clock()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.count(_route(scope), _method(scope), status, self._clock() - began)


def metrics_of(request: HTTPConnection) -> Metrics:
    """Return the metrics of the server that handles a request."""
    return cast("Metrics", request.app.state.metrics)


def _route(scope: Scope) -> str:
    """Return the route template, never the path, which contains ids."""
    path: object = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else _ELSEWHERE


def _method(scope: Scope) -> str:
    # Clients can send any method, and each would get its own row.
    known = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
    return scope["method"] if scope["method"] in known else _ELSEWHERE
