"""A page of another site may call the API only from an allowed origin, with a key, and never with a cookie."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import SettingsError
from tests.doors.http.served import Served, serving

PAGE = "https://app.example"
ADD = ("POST", "/v1/memories", {"content": "I drink tea"})
_FROM = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"}


@pytest.fixture
def open_to_a_page(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "home", settings={"server.origins": f"{PAGE}, http://localhost:5173"}) as served:
        yield served


@pytest.mark.loopback
def test_a_page_of_an_allowed_origin_asks_first_and_then_calls_with_its_key(open_to_a_page: Served) -> None:
    asked = open_to_a_page.with_key(None).ask(
        "OPTIONS", "/v1/memories", Origin=PAGE, Access_Control_Request_Method="POST", **_FROM
    )
    assert asked.status == 204
    assert asked.headers["access-control-allow-origin"] == PAGE
    assert "authorization" in asked.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in asked.headers
    answer = open_to_a_page.ask(*ADD, Origin=PAGE, **_FROM)
    assert answer.status == 201
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["vary"] == "origin"
    refused = open_to_a_page.with_key(None).ask(*ADD, Origin=PAGE, **_FROM)
    assert refused.status == 401
    # The page can read why.
    assert refused.headers["access-control-allow-origin"] == PAGE


@pytest.mark.loopback
def test_nothing_else_is_open_to_it(open_to_a_page: Served) -> None:
    for origin in ("https://app.example.evil", "http://app.example", "https://evil.example", "null", f"{PAGE}:8443"):
        assert open_to_a_page.ask(*ADD, Origin=origin, **_FROM).status == 403
        asked = open_to_a_page.ask("OPTIONS", "/v1/memories", Origin=origin, Access_Control_Request_Method="POST")
        assert asked.status == 403
        assert "access-control-allow-origin" not in asked.headers
    for path in ("/console/", "/login", "/mcp", "/healthz", "/metrics", "/hook"):
        answer = open_to_a_page.ask("GET", path, Origin=PAGE, **_FROM)
        assert answer.status == 403, path
        assert "access-control-allow-origin" not in answer.headers
    # The browser of somebody who is signed in to the console.
    assert open_to_a_page.ask(*ADD, Origin=PAGE, Cookie="recollectum=x", **_FROM).status == 403
    assert not open_to_a_page.home.vault("user:alice").memories.list()


@pytest.mark.loopback
def test_by_default_no_page_is_allowed(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        assert served.ask(*ADD, Origin=PAGE, **_FROM).status == 403


@pytest.mark.parametrize("listed", ["*", "https://app.example/", "app.example", "https://*.example", "file://x"])
def test_a_setting_that_names_no_origin_is_refused(tmp_path: Path, listed: str) -> None:
    with pytest.raises(SettingsError, match=r"such as https://app\.example"):
        Recollectum(tmp_path / "home", settings={"server.origins": listed}).close()
