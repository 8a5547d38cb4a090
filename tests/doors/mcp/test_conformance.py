"""The official conformance scenarios pass: against the server itself, or with their fixtures mounted as it is."""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from recollectum import Recollectum
from recollectum.doors.http.guard import Guard
from recollectum.doors.http.server_state import RequestLimits, ServerState, allowed_hosts, limits_of
from recollectum.doors.mcp.http_mount import mount
from recollectum.doors.server.app import build_app
from tests.doors.mcp.conforming import WIRE, Verdict, WithKey, listed, verdicts
from tests.doors.mcp.fixtures import fixture_server
from tests.doors.mcp.scenarios import NEWER, NOT_APPLICABLE, OLDER, OURS, RUN, STATELESS_WITH_FIXTURES
from tests.doors.mcp.served import TOKEN, listening, over_http, run

pytestmark = [
    pytest.mark.loopback,
    pytest.mark.feature("M10"),
    # Logging went away with the newer era; the suite still asks for it in the older one.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
    pytest.mark.process,
]
Verdicts = Mapping[str, Mapping[str, Verdict]]
_NOT_RUN = Verdict((), "the suite did not run it")


@contextmanager
def _our_server(folder: Path) -> Generator[tuple[str, str]]:
    """The whole server, guard and all, with alice's key on every request; its address and her key."""
    with Recollectum(folder, settings={"storage.reserve_mib": 0}) as home:
        home.vault("user:alice")
        key = home.keys.add("user:alice", permissions=("read", "write"))[1]

        def make(port: int) -> ASGIApp:
            limits = limits_of(home.settings.server, host="127.0.0.1", port=port)
            return WithKey(build_app(ServerState(home, TOKEN, limits, datetime.now(UTC))), key)

        with listening(make) as port:
            yield f"http://127.0.0.1:{port}", key


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """What the suite says of our own server."""
    folder = tmp_path_factory.mktemp("ours")
    with _our_server(folder / "home") as (url, _):
        return {spec: verdicts(spec, f"{url}/mcp", folder) for spec in OURS}


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """What it says of its own tools behind our mounting and our guard, where anybody may come in."""

    def make(port: int) -> ASGIApp:
        app = FastAPI()
        mount(app, {"/mcp": fixture_server()}, lambda _: None, max_body=1_000_000)
        limits = RequestLimits(hosts=allowed_hosts("127.0.0.1", port))
        return Guard(app, limits, time.monotonic)

    folder = tmp_path_factory.mktemp("mounted")
    with listening(make) as port:
        return {spec: verdicts(spec, f"http://127.0.0.1:{port}/mcp", folder) for spec in RUN}


@pytest.mark.parametrize(("spec", "name"), [(spec, name) for spec, names in OURS.items() for name in names])
def test_our_server_conforms(spec: str, name: str, ours: Verdicts) -> None:
    verdict = ours[spec].get(name, _NOT_RUN)
    assert verdict.passed, verdict.complaints


def test_our_server_needs_no_session_in_the_newer_era(ours: Verdicts) -> None:
    verdict = ours[NEWER]["server-stateless"]
    assert verdict.short_of() == STATELESS_WITH_FIXTURES, verdict.complaints


@pytest.mark.parametrize("spec", [OLDER, NEWER])
def test_every_message_of_our_server_is_valid_by_the_schema(spec: str, ours: Verdicts) -> None:
    # Scenarios that send raw requests are not looked at in this way.
    looked = {name for name, verdict in ours[spec].items() if WIRE in dict(verdict.statuses)}
    assert looked >= {"tools-list", "resources-list", "prompts-list", "tools-call-error", "resources-read-text"}
    assert [name for name, verdict in ours[spec].items() if WIRE in verdict.short_of()] == []


@pytest.mark.parametrize(("spec", "name"), [(spec, name) for spec, names in RUN.items() for name in names])
def test_our_mounting_conforms(spec: str, name: str, mounted: Verdicts) -> None:
    verdict = mounted[spec].get(name, _NOT_RUN)
    assert verdict.passed, verdict.complaints


def test_every_scenario_of_the_package_runs_or_has_a_reason(tmp_path: Path) -> None:
    package = listed(tmp_path)
    for spec, run_there in RUN.items():
        there = {name for name, versions in package.items() if spec in versions}
        assert there - set(NOT_APPLICABLE) == set(run_there)
    assert set(package) == {*RUN[OLDER], *RUN[NEWER], *NOT_APPLICABLE}


def test_the_reasons_hold(tmp_path: Path) -> None:
    with _our_server(tmp_path / "home") as (url, key):
        assert httpx2.get(f"{url}/mcp", headers={"Accept": "text/event-stream"}).status_code == 405

        async def declared(mode: str) -> set[str]:
            async with over_http(url, key, mode) as client:
                return set(client.server_capabilities.model_dump(exclude_none=True))

        # A client of the newer era asks what there is, one of the older is told at once.
        found = [run(lambda mode=mode: declared(mode)) for mode in ("auto", "legacy")]
    assert found == [{"tools", "resources", "prompts"}] * 2
