"""Errors outside a route: a page with the cure for a person, JSON for a program, and the same status for both."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient

from recollectum.doors.console.page_requests import REFUSED
from recollectum.doors.http.server_state import RequestLimits, ServerState
from recollectum.doors.server.app import build_app
from tests.doors.console.servers import TOKEN, Place
from tests.matrix.homes import Turning, open_home

pytestmark = pytest.mark.loopback

PERSON = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PROGRAM = {"accept": "*/*"}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    """A server that allows one name, short bodies and few requests."""
    clock = Turning()
    with open_home(tmp_path, clock) as home:
        limits = RequestLimits(hosts=frozenset({"here"}), failures=0, per_address=9, max_body=1000)
        made = build_app(ServerState(home, TOKEN, limits, clock()), clock=lambda: 0.0)

        @made.get("/console/breaks")
        def breaks() -> None:
            raise RuntimeError("a secret of the server")

        yield made


def _refusals(client: TestClient, accept: dict[str, str]) -> dict[str, httpx2.Response]:
    form = {**accept, "content-type": "application/x-www-form-urlencoded"}
    return {
        "no such page": client.get("/nothing", headers=accept),
        "no such console page": client.get("/console/nothing/at/all", headers=accept),
        "only a form": client.get("/console/logout", headers=accept),
        "a form of another site": client.post("/console/theme", headers={**form, "origin": "http://evil.example"}),
        "too long": client.post("/console/memories", headers=form, content=b"x" * 1001),
        "another name": client.get("/", headers={**accept, "host": "elsewhere"}),
        "no form": client.post("/console/memories", headers={**accept, "content-type": "text/plain"}, content=b"x"),
        "broken": client.get("/console/breaks", headers=accept),
    }


STATUS = {
    "no such page": 404,
    "no such console page": 404,
    "only a form": 405,
    "a form of another site": 403,
    "too long": 413,
    "another name": 421,
    "no form": 415,
    "broken": 500,
}


def test_a_person_gets_a_page_and_a_program_gets_json(app: FastAPI) -> None:
    client = TestClient(app, base_url="http://here", raise_server_exceptions=False, client=("10.0.0.1", 1))
    pages = _refusals(client, PERSON)
    other = TestClient(app, base_url="http://here", raise_server_exceptions=False, client=("10.0.0.2", 1))
    documents = _refusals(other, PROGRAM)
    assert {name: one.status_code for name, one in pages.items()} == STATUS
    assert {name: one.status_code for name, one in documents.items()} == STATUS
    for name, one in pages.items():
        heading, sentence = REFUSED[one.status_code]
        assert one.headers["content-type"].startswith("text/html"), name
        assert f"<h1>{heading}</h1>" in one.text, name
        assert sentence[:40] in one.text, name
        assert "secret of the server" not in one.text
        # It brings its style along, and the policy allows that style alone.
        assert "<style>" in one.text
        assert "style-src 'sha256-" in one.headers["content-security-policy"]
    for name, one in documents.items():
        assert one.headers["content-type"] == "application/problem+json", name
    assert pages["only a form"].headers["allow"] == documents["only a form"].headers["allow"] == "POST"


def test_too_many_requests_say_how_long_to_wait(app: FastAPI) -> None:
    client = TestClient(app, base_url="http://here", client=("10.0.0.3", 1))
    answers = [client.get("/login", headers=PERSON) for _ in range(12)]
    last = answers[-1]
    assert last.status_code == 429
    assert last.headers["retry-after"]
    assert f"Wait {last.headers['retry-after']} second" in last.text
    assert client.get("/login", headers=PROGRAM).headers["content-type"] == "application/problem+json"


def test_a_browser_at_the_api_gets_json(place: Place) -> None:
    with place.client() as client:
        for path in ("/v1/nothing", "/v1/memories", "/mcp"):
            answer = client.get(path, headers=PERSON)
            assert answer.status_code >= 400
            assert answer.headers["content-type"] == "application/problem+json", path


@pytest.mark.process
@pytest.mark.browser
def test_a_browser_shows_the_page_of_an_unknown_path_with_its_style(chromium: Browser, place: Place) -> None:
    page = chromium.new_context().new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    answer = page.goto(f"{place.url}/console/nothing")
    assert answer
    assert answer.status == 404
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    expect(page.locator("main")).to_have_css("text-align", "center")
    # The browser notes the status; nothing of the page was refused by its policy.
    assert not [one for one in errors if "Content Security Policy" in one]
    page.get_by_role("link", name="Go to memories").click()
    expect(page.get_by_text("You are not signed in.")).to_be_visible()
