"""`server.mem0 = off` takes the routes of mem0's client away, and what is not offered has the reason of the guide."""

from pathlib import Path

import pytest

from recollectum.doors.rest.mem0.bodies import REFUSED_OPTIONS
from recollectum.doors.rest.mem0.not_offered import REASONS
from tests.doors.http.served import Served, serving

GUIDE = Path(__file__).parents[4] / "docs/guides/frameworks.md"


@pytest.mark.loopback
def test_the_routes_can_be_turned_off(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.mem0": "off"}) as served:
        assert served.ask("GET", "/v1/ping/").status == 404
        assert served.ask("POST", "/v3/memories/search/", {"query": "x", "filters": {"user_id": "alice"}}).status == 404
        assert served.ask("POST", "/v1/feedback/", {}).status == 404


@pytest.mark.loopback
def test_a_secret_is_neither_stored_nor_answered(served: Served) -> None:
    secret = "ghp_" + "a1B2c3D4e" * 4
    said = {"messages": [{"role": "user", "content": f"my token is {secret}"}], "user_id": "alice"}
    made = served.ask("POST", "/v3/memories/add/", said, Authorization=f"Token {served.secret}")
    assert secret.encode() not in made.body
    assert made.json["notice"]["replaced"] == {"github-token": 1}


def test_the_guide_has_each_reason() -> None:
    text = GUIDE.read_text("utf-8")
    missing = [reason for reason in (*REASONS.values(), *REFUSED_OPTIONS.values()) if f"| {reason} |" not in text]
    assert not missing
    assert not [name for name in REFUSED_OPTIONS if f"`{name}`" not in text]
