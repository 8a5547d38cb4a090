"""The official conformance scenarios pass: against the server itself, or with their fixtures mounted as it is."""

import time
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from recollect import Recollect
from recollect.doors.http.guard import Guard
from recollect.doors.http.limits import Limits, allowed_hosts, limits_of
from recollect.doors.http.serving import Serving
from recollect.doors.mcp.mounting import mount
from recollect.doors.server.app import build_app
from tests.doors.mcp.conforming import WithKey, scenario
from tests.doors.mcp.fixtures import fixture_server
from tests.doors.mcp.served import TOKEN, listening

pytestmark = [pytest.mark.loopback, pytest.mark.feature("M10")]

OLDER = (
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)
NEWER = (
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "sep-2164-resource-not-found",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "caching",
)
OF_BOTH = (
    "completion-complete",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
)
OLDER_FIXTURES = (*OF_BOTH, "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums")
NEWER_FIXTURES = (
    *OF_BOTH,
    "server-stateless",
    *(
        f"input-required-result-{one}"
        for one in (
            "basic-elicitation",
            "basic-sampling",
            "basic-list-roots",
            "request-state",
            "multiple-input-requests",
            "multi-round",
            "missing-input-response",
            "non-tool-request",
            "result-type",
            "tampered-state",
            "capability-check",
            "ignore-extra-params",
            "validate-input",
        )
    ),
)


@pytest.fixture
def url(tmp_path: Path) -> Generator[str]:
    """The whole server, guard and all, with alice's key on every request."""
    with Recollect(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        home.vault("user:alice")
        key = home.keys.create("user:alice", permissions=("read", "write"))[1]

        def make(port: int) -> ASGIApp:
            limits = limits_of(home.loaded.settings.server, host="127.0.0.1", port=port)
            return WithKey(build_app(Serving(home, TOKEN, limits, datetime.now(UTC))), key)

        with listening(make) as port:
            yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize(
    ("name", "spec"), [*((one, "2025-11-25") for one in OLDER), *((one, "2026-07-28") for one in NEWER)]
)
def test_our_server_conforms(name: str, spec: str, url: str, tmp_path: Path) -> None:
    verdict = scenario(name, spec, url, tmp_path)
    assert verdict.passed, verdict.output


@pytest.fixture(scope="module")
def fixtures_url() -> Generator[str]:
    """A server with the suite's own tools, behind our mounting and our guard; anybody may come in."""

    def make(port: int) -> ASGIApp:
        app = FastAPI()
        mount(app, {"/mcp": fixture_server()}, lambda _: None, max_body=1_000_000)
        limits = Limits(hosts=allowed_hosts("127.0.0.1", port))
        return Guard(app, limits, time.monotonic)

    with listening(make) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize(
    ("name", "spec"),
    [*((one, "2025-11-25") for one in OLDER_FIXTURES), *((one, "2026-07-28") for one in NEWER_FIXTURES)],
)
def test_our_mounting_conforms(name: str, spec: str, fixtures_url: str, tmp_path: Path) -> None:
    verdict = scenario(name, spec, fixtures_url, tmp_path)
    assert verdict.passed, verdict.output
