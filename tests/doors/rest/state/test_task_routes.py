"""`/v1/tasks` over HTTP."""

from pathlib import Path

import pytest

from tests.doors.http.served import Served

pytestmark = [pytest.mark.process, pytest.mark.loopback]


@pytest.mark.feature("C15")
def test_tasks_are_saved_listed_shown_and_deleted_by_their_version(served: Served, tmp_path: Path) -> None:
    name = "a/b %2F ☃"
    made = served.ask("PUT", "/v1/tasks/one", {"id": name, "data": {"state": "working"}, "version": 0})
    assert made.status == 200
    assert (made.json["task"]["version"], made.json["task"]["data"]) == (1, {"state": "working"})
    refused = served.ask("PUT", "/v1/tasks/one", {"id": name, "data": {}, "version": 0})
    assert refused.status == 409
    assert "has the version 1, not the version 0" in refused.json["detail"]
    # Its workspace is archived on the machine of the server, and stays when the data change.
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "file").write_text("text")
    served.home.vault("user:alice").tasks.save_workspace(name, workspace)
    saved = served.ask("PUT", "/v1/tasks/one", {"id": name, "data": {"state": "done"}, "version": 2}).json["task"]
    assert saved["workspace"]["files"] == 1
    served.ask("PUT", "/v1/tasks/one", {"id": "other"})
    first = served.ask("GET", "/v1/tasks?limit=1").json
    rest = served.ask("GET", f"/v1/tasks?limit=1&cursor={first['next']}").json
    assert {one["id"] for one in (*first["tasks"], *rest["tasks"])} == {name, "other"}
    assert rest["next"] is None
    assert "data" not in first["tasks"][0]
    path = "/v1/tasks/one?id=a%2Fb%20%252F%20%E2%98%83"
    assert served.ask("GET", path).json["task"] == saved
    assert served.ask("DELETE", f"{path}&version=1").status == 409
    assert served.ask("DELETE", f"{path}&version=3").json == {"deleted": name}
    assert [served.ask(method, path).status for method in ("GET", "DELETE")] == [404, 404]


def test_nonsense_is_refused_and_others_see_nothing(served: Served) -> None:
    for wrong in (
        {},
        {"id": ""},
        {"id": "x" * 201},
        {"id": "a\u0007"},
        {"id": "t", "version": -1},
        {"id": "t", "data": 1},
    ):
        assert served.ask("PUT", "/v1/tasks/one", wrong).status == 422, wrong
    assert served.ask("GET", "/v1/tasks/one").status == 422
    assert served.ask("GET", "/v1/tasks").json == {"tasks": [], "next": None}
    served.ask("PUT", "/v1/tasks/one", {"id": "t", "data": {"of": "alice"}})
    other = served.with_key(served.new_key("user:bob", "read", "write"))
    assert other.ask("GET", "/v1/tasks").json["tasks"] == []
    assert other.ask("GET", "/v1/tasks/one?id=t").status == 404
    assert other.ask("GET", "/v1/tasks/one?id=t&owner=user:alice").status in (403, 404)
    reader = served.with_key(served.new_key("user:alice", "read"))
    assert reader.ask("PUT", "/v1/tasks/one", {"id": "t"}).status == 403
    assert reader.ask("DELETE", "/v1/tasks/one?id=t").status == 403
    assert reader.ask("GET", "/v1/tasks/one?id=t").json["task"]["data"] == {"of": "alice"}
