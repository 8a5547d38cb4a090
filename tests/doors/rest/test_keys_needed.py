"""Nothing answers without a key but /healthz and /readyz, and with a foreign key nothing of another's is there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount, Route

from tests.doors.http.served import Served, serving

OPEN = {"/healthz", "/readyz"}
LISTS = (
    "/v1/memories",
    "/v1/sessions",
    "/v1/events",
    "/v1/learnings",
    "/v1/review",
    "/v1/exports/memories",
    "/v1/history",
    "/v1/state",
    "/v1/accounts",
    "/v1/tasks",
)
#: For routes that take no empty object.
BODIES: dict[str, object] = {
    "POST /v1/sessions/{session_id}/messages": {"role": "user", "content": "x"},
    "PATCH /v1/sessions/{session_id}": {"ended": True},
    "PUT /v1/memories/{memory_id}/state": {"state": "archived"},
}
NO_BODY: dict[str, object] = {"GET": None, "POST": {}, "PUT": {}, "PATCH": {}, "DELETE": {}}
CONSOLE = "recollectum.doors.console"


def _routes(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Every path with each of its methods; the console's pages have a login of their own, and tests of it."""
    for route in (one.original_route for one in iter_route_contexts(routes)):
        if isinstance(route, Route) and not route.endpoint.__module__.startswith(CONSOLE):
            yield from ((method, route.path) for method in sorted((route.methods or set()) - {"HEAD"}))
        elif isinstance(route, Mount) and not route.path.startswith("/static"):
            yield "POST", route.path


def _filled(path: str, memory_id: str) -> str:
    mem0 = ("kind", "name", "entity_id", "job_id", "rest:path")
    for name in ("memory_id", "session_id", "proposal_id", "receipt_id", "key_id", "command_id", "project", *mem0):
        path = path.replace(f"{{{name}}}", memory_id)
    assert "{" not in path, f"say what {path} is filled with"
    return path


@pytest.mark.loopback
def test_every_route_needs_a_key(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.failures_per_minute": 0}) as served:
        _check_every_route(served)


def _check_every_route(served: Served) -> None:
    found = sorted(set(_routes(served.app.routes)))
    assert len(found) > 30
    bodies: tuple[object, ...] = (None, b"{", {})
    revoked, secret = served.home.keys.add("user:alice")
    served.home.keys.revoke(revoked.id)
    for credential in (None, "rk_" + "x" * 43, secret, ""):
        visitor = served.with_key(credential)
        for method, path in found:
            # Empty and broken bodies as well: nothing is read before the key is.
            for body in bodies:
                answer = visitor.ask(method, _filled(path, "mem_x"), body, Host=f"localhost:{served.port}")
                assert answer.status == (200 if path in OPEN else 401), (method, path)


@pytest.mark.loopback
@pytest.mark.feature("P7")
def test_with_a_foreign_key_nothing_of_anothers_is_there(served: Served) -> None:
    vault = served.home.vault("user:alice")
    memory = vault.memories.save("Alice drinks tea").memory
    session = vault.sessions.open()
    session.add("user", "tea please")
    command = vault.state.history.add("tea --hot")
    bob = served.with_key(served.new_key("user:bob", "read", "write", "admin"))
    for method, path in sorted(set(_routes(served.app.routes))):
        thing = session.id if "{session_id}" in path else command.id if "{command_id}" in path else memory.id
        if "{" in path:
            answer = bob.ask(method, _filled(path, thing), BODIES.get(f"{method} {path}", NO_BODY[method]))
            assert answer.status == 404, (method, path, answer.body)
    for path in ("/memory", *LISTS, "/v1/receipts"):
        assert bob.ask("GET", f"{path}?owner=user:alice").status in (404, 200), path
        assert b"tea" not in bob.ask("GET", path).body
    for path in ("/memory", *LISTS, "/v1/exports/sessions"):
        assert bob.ask("GET", f"{path}?owner=user:alice").status == 404, path
    assert bob.ask("POST", "/memory/query?owner=user:alice", {"query": "tea"}).status == 404
    assert bob.ask("POST", "/memory/query", {"query": "tea"}).json["hits"] == []
    assert vault.memories.get(memory.id).state == "active"


@pytest.mark.loopback
def test_a_revoked_key_ends_at_once_and_a_reading_key_only_reads(served: Served) -> None:
    key, secret = served.home.keys.add("user:alice", permissions=("read",))
    reader = served.with_key(secret)
    assert reader.ask("GET", "/memory").status == 200
    assert reader.ask("POST", "/memory/add", {"content": "x"}).status == 403
    assert reader.ask("DELETE", "/memory/user/purge").status == 403
    assert reader.ask("POST", "/v1/sessions", {}).status == 403
    served.home.keys.revoke(key.id)
    assert reader.ask("GET", "/memory").status == 401


@pytest.mark.loopback
def test_a_key_for_another_owner_opens_that_vault_and_no_third(served: Served) -> None:
    for person in ("user:bob", "user:carol"):
        served.home.vault(person).memories.save(f"{person} drinks tea")
    _, secret = served.home.keys.add("user:alice", permissions=("read",), owners=("user:bob",))
    both = served.with_key(secret)
    assert len(both.ask("GET", "/memory?owner=user:bob").json["memories"]) == 1
    assert both.ask("GET", "/memory").json["memories"] == []
    assert both.ask("GET", "/memory?owner=user:carol").status == 404
    assert both.ask("POST", "/memory/add?owner=user:bob", {"content": "x"}).status == 403


@pytest.mark.loopback
def test_metrics_count_by_route_and_tell_nothing_else(served: Served) -> None:
    memory = served.ask("POST", "/memory/add", {"content": "canary9a"}).json["memory"]
    served.ask("GET", f"/memory/{memory['id']}")
    served.ask("BREW", "/pot-of-canary9a")
    told = served.ask("GET", "/metrics").body.decode()
    assert 'recollectum_requests_total{method="POST",route="/memory/add",status="200"} 1.0' in told
    assert 'route="/memory/{memory_id}"' in told
    for word in ("canary9a", memory["id"], "alice", "BREW"):
        assert word not in told
    assert served.with_key(None).ask("GET", "/metrics").status == 401
