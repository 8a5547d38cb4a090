"""`/v1/history`, `/v1/state` and `/v1/accounts` over HTTP."""

import pytest

from tests.doors.http.served import Served

pytestmark = [pytest.mark.process, pytest.mark.loopback]
_SECRET = "ghp_01B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.feature("C13")
def test_commands_are_added_once_found_and_deleted(served: Served) -> None:
    body = {"command": f"export TOKEN={_SECRET}\nmake", "project": "a" * 64}
    first = served.ask("POST", "/v1/history", body, Idempotency_Key="one")
    again = served.ask("POST", "/v1/history", body, Idempotency_Key="one")
    assert first.json == again.json
    assert first.json["command"]["command"] == "export TOKEN=[secret:github-token]\nmake"
    assert first.json["notice"]["replaced"] == {"github-token": 1}
    for number in range(3):
        served.ask("POST", "/v1/history", {"command": f"echo {number}"})
    page = served.ask("GET", "/v1/history?text=ECHO&limit=2").json
    rest = served.ask("GET", f"/v1/history?text=ECHO&limit=2&cursor={page['next']}").json
    assert [one["command"] for one in (*page["commands"], *rest["commands"])] == ["echo 2", "echo 1", "echo 0"]
    assert len(served.ask("GET", "/v1/history?project=").json["commands"]) == 3
    gone = page["commands"][0]["id"]
    assert served.ask("DELETE", f"/v1/history/{gone}").json == {"deleted": 1}
    assert served.ask("DELETE", f"/v1/history/{gone}").status == 404
    assert served.ask("DELETE", f"/v1/history?project={'a' * 64}").json == {"deleted": 1}
    assert served.ask("DELETE", "/v1/history").json == {"deleted": 2}
    for wrong in ({"command": ""}, {"command": "x" * 40_000}, {"command": "ls", "project": "/home"}, {}):
        assert served.ask("POST", "/v1/history", wrong).status == 422


@pytest.mark.feature("C3")
def test_values_of_an_interface_are_kept(served: Served) -> None:
    saved = served.ask("PUT", "/v1/state", {"key": "theme", "value": "dark", "interface": "web"})
    assert saved.json["value"] == {"interface": "web", "key": "theme", "value": "dark"}
    assert served.ask("PUT", "/v1/state", {"key": "theme", "value": 3}).status == 422
    assert served.ask("GET", "/v1/state?interface=web").json == {
        "values": [{"interface": "web", "key": "theme", "value": "dark"}],
        "interfaces": ["web"],
    }
    assert served.ask("DELETE", "/v1/state?key=theme&interface=web").json == {"deleted": "theme"}
    assert served.ask("DELETE", "/v1/state?key=theme&interface=web").status == 404


@pytest.mark.feature("C7")
def test_one_account_of_a_service_is_in_use(served: Served) -> None:
    for name in ("ada@example.com", "bob@example.com"):
        assert served.ask("POST", "/v1/accounts", {"service": "google", "account": name}).status == 200
    used = served.ask("PUT", "/v1/accounts/active", {"service": "google", "account": "bob@example.com"})
    assert used.json["account"]["active"] is True
    listed = served.ask("GET", "/v1/accounts?service=google").json["accounts"]
    assert [(one["account"], one["active"]) for one in listed] == [
        ("ada@example.com", False),
        ("bob@example.com", True),
    ]
    assert served.ask("DELETE", "/v1/accounts?service=google&account=bob%40example.com").status == 409
    assert served.ask("DELETE", "/v1/accounts?service=google&account=ada%40example.com").status == 200
    assert served.ask("PUT", "/v1/accounts/active", {"service": "google", "account": "ada"}).status == 404
