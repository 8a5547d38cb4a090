"""Projects over HTTP: named in bodies, listed, and never mixed in a context."""

import pytest

from tests.doors.http.served import Served


@pytest.mark.loopback
@pytest.mark.feature("C14")
def test_a_project_is_named_in_requests_and_listed(served: Served) -> None:
    for name in ("blue", "red"):
        body = {"content": f"We deploy {name} on Friday", "project": f"/work/{name}"}
        assert served.ask("POST", "/v1/memories", body).json["memory"]["project"]
        said = served.ask("POST", "/v1/sessions", {"project": name}).json["session"]
        message = {"role": "user", "content": f"the {name} deploy failed"}
        assert served.ask("POST", f"/v1/sessions/{said['id']}/messages", message).status < 300
    listed = served.ask("GET", "/v1/projects").json["projects"]
    assert [(one["project"]["name"], one["counts"]["memories"]) for one in listed] == [("blue", 1), ("red", 1)]
    shown = served.ask("GET", "/v1/projects/blue").json
    assert (shown["counts"]["sessions"], len(shown["sessions"])) == (1, 1)
    hits = served.ask("POST", "/v1/recall", {"query": "deploy", "project": "blue"}).json["hits"]
    assert {"blue" in one["text"] for one in hits} == {True}
    assert len(hits) == 2
    preferred = served.ask("POST", "/v1/recall", {"query": "when do we deploy", "prefer_project": "red"}).json["hits"]
    assert "red" in preferred[0]["text"]
    asked: list[tuple[dict[str, object], set[str]]] = [
        ({"query": "deploy"}, set()),
        ({"query": "deploy", "project": "red"}, {"red"}),
        ({"query": "deploy", "all_projects": True}, {"red", "blue"}),
    ]
    for body, names in asked:
        text = served.ask("POST", "/v1/context", body).json["text"]
        assert {name for name in ("red", "blue") if name in text} == names
    assert served.ask("POST", "/v1/recall", {"query": "deploy", "personal": True}).json["hits"] == []


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("body", "status"),
    [({"project": "nowhere"}, 404), ({"project": "a/b"}, 422), ({"project": ""}, 422), ({"project": 3}, 422)],
)
def test_what_is_no_project_is_refused_and_nothing_is_saved(
    served: Served, body: dict[str, object], status: int
) -> None:
    refused = served.ask("POST", "/v1/memories", {"content": "it is blue", **body})
    assert refused.status == status
    assert served.ask("GET", "/v1/memories").json["memories"] == []
    assert served.ask("GET", "/v1/projects/nowhere").status == 404
