"""Rules by client hold at the doors: what a key, a program over MCP or anybody by way of HTTP may do is a rule."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import quick_folder
from tests.matrix.over_http_server import Server, serving
from tests.matrix.over_http_world import furnish
from tests.matrix.over_mcp_calls import Call, ask

pytestmark = [pytest.mark.loopback, pytest.mark.feature("C9"), pytest.mark.slow]

RULE = """
[[rule]]
tool = ["memory.delete", "purge.*", "key.*"]
clients = "{client}"
decision = "deny"
why = "this client may search but not delete"
"""
SEARCH = Call(method="tools/call", name="recall", arguments={"query": "tea"})


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as found:
        furnish(found)
        yield found


def _rule(folder: Path, client: str) -> None:
    (folder / "home/policies").mkdir(parents=True, exist_ok=True)
    (folder / "home/policies/mine.toml").write_text(RULE.format(client=client), encoding="utf-8")


def _key_of(folder: Path, caller: str) -> str:
    with serving(folder) as server:
        return server.home.login(server.scene.secrets[caller]).caller.name


def _forgets(server: Server, caller: str, agent: str) -> bool:
    """Whether a memory of the caller's can be forgotten over MCP, in its two steps."""
    memory = server.scene.held("user:alice").memories["active"]
    asked = ask(server, caller, "/mcp", Call(method="tools/call", name="forget", arguments={"id": memory}), agent=agent)
    token = asked.text.partition('"token":"')[2].partition('"')[0]
    given = {"id": memory, "confirm": token}
    done = ask(server, caller, "/mcp", Call(method="tools/call", name="forget", arguments=given), agent=agent)
    refused = "this client may search but not delete" in done.text
    assert refused != ('"status":"forgotten"' in done.text), done.text
    return not refused


def test_a_rule_about_a_key_holds_over_http_and_mcp(folder: Path) -> None:
    _rule(folder, _key_of(folder, "alice"))
    with serving(folder) as server:
        path = f"/memory/{server.scene.held('user:alice').memories['active']}"
        assert server.ask("alice", "POST", "/memory/query", {"query": "zebra"}).status == 200
        refused = server.ask("alice", "DELETE", path)
        assert (refused.status, b"may search but not delete" in refused.body) == (403, True)
        assert str(folder).encode() not in refused.body
        assert server.ask("alice", "DELETE", "/memory/user/purge").status == 403
        assert '"isError":true' not in ask(server, "alice", "/mcp", SEARCH).text
        assert not _forgets(server, "alice", "desktop")
        # Another key of the same person is another client.
        assert server.ask("admin", "DELETE", path).status == 200


def test_a_rule_about_a_program_holds_over_mcp(folder: Path) -> None:
    _rule(folder, "mcp:desktop")
    with serving(folder) as server:
        assert '"isError":true' not in ask(server, "alice", "/mcp", SEARCH, agent="desktop").text
        assert not _forgets(server, "alice", "desktop")
        assert not _forgets(server, "acting", "desktop")
        assert _forgets(server, "alice", "editor")


def test_a_rule_about_the_door_holds_for_every_key_and_for_keys(folder: Path) -> None:
    _rule(folder, "http:api")
    with serving(folder) as server:
        path = f"/memory/{server.scene.held('user:alice').memories['active']}"
        for caller in ("alice", "acting", "admin"):
            assert server.ask(caller, "GET", path).status == 200
            assert server.ask(caller, "DELETE", path).status == 403
        # An admin key makes keys by its own name, and so under the rules that know it.
        assert server.ask("admin", "POST", "/v1/keys", {"scopes": ["read"]}).status == 403
        assert _forgets(server, "alice", "desktop")
