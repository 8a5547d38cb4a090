"""One rule that denies an action refuses every path to it, whatever door it comes through."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.policy.actions import Action
from tests.laws.door_paths import ROUTES, TOOLS
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.matrix.over_http_routes import Ask, asks
from tests.matrix.over_http_server import Answer, Server, routes, serving
from tests.matrix.over_http_world import furnish
from tests.matrix.over_mcp_calls import Call, ask, calls, missing
from tests.matrix.over_mcp_checks import PROFILES
from tests.matrix.world import NOW

pytestmark = [pytest.mark.feature("C9"), pytest.mark.loopback, pytest.mark.slow]
_RULE = '[[rule]]\ntool = "{action}"\nclients = "key:{key}"\ndecision = "deny"\nwhy = "the law"\n'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with a key of alice's for each action, to which just that action is denied."""
    with quick_folder() as folder:
        furnish(folder)
        secrets = _deny_each(folder)
        with serving(folder) as running:
            running.scene.secrets.update(secrets)
            yield running


def _deny_each(folder: Path) -> dict[str, str]:
    secrets: dict[str, str] = {}
    rules: list[str] = []
    with open_home(folder, Turning(NOW)) as home:
        for action in Action:
            key, secret = home.keys.add("user:alice", permissions=("read", "write", "admin"))
            rules.append(_RULE.format(action=action, key=key.id))
            # No name of a caller in the matrix has a dot, so none of them is meant.
            secrets[f"alice {action}"] = secret
    (folder / "home/policies").mkdir(exist_ok=True)
    (folder / "home/policies/law.toml").write_text("\n".join(rules), encoding="utf-8")
    return secrets


def _asks(server: Server) -> list[Ask]:
    return asks(server.scene.held("user:alice"), server.scene.things["user:alice"])


def test_every_route_says_what_it_does(server: Server) -> None:
    """The pages of the console, the hook and MCP have tables of their own."""
    apart = ("recollectum.doors.console", "recollectum.doors.hook", "recollectum.doors.mcp", "recollectum.doors.server")
    found = {route for route, module in routes(server.app) if not module.startswith(apart)}
    assert found <= ROUTES.keys()
    assert {one.route for one in _asks(server)} == ROUTES.keys()


@pytest.mark.parametrize("action", Action)
def test_one_rule_refuses_every_route_to_an_action(server: Server, action: Action) -> None:
    before = _state(server)
    for one in _asks(server):
        if action in ROUTES[one.route]:
            refused = server.ask(f"alice {action}", one.method, one.path, one.body, one.headers)
            assert refused.status == 403, (str(one), refused.text)
            assert f"{action} is denied by law.toml".encode() in refused.body, (str(one), refused.text)
    assert _state(server) == before


@pytest.mark.parametrize("action", Action)
def test_one_rule_refuses_every_tool_to_an_action(server: Server, action: Action) -> None:
    before = _state(server)
    for path in ("/mcp", "/mcp/graph"):
        for one in calls(path, server.scene.held("user:alice"), "user:alice"):
            if action in TOOLS[path, one.method, one.name.partition("://")[0]]:
                said = _called(server, f"alice {action}", path, one).text
                assert f"{action} is denied by law.toml" in said, (path, str(one), said)
    assert _state(server) == before


def _called(server: Server, caller: str, path: str, one: Call) -> Answer:
    first = ask(server, caller, path, one)
    if one.name != "forget":
        return first
    # It shows first what would go, and gives a token for it.
    token = first.text.partition('"token":"')[2].partition('"')[0]
    again = {**(one.arguments or {}), "confirm": token}
    return ask(server, caller, path, Call(method=one.method, name=one.name, arguments=again))


def test_every_tool_says_what_it_does(server: Server) -> None:
    held = server.scene.held("user:alice")
    asked = {
        (path, one.method, one.name.partition("://")[0])
        for path in ("/mcp", "/mcp/graph")
        for one in calls(path, held, "user:alice")
    }
    assert asked == TOOLS.keys()
    assert not {name for path, offer in PROFILES.items() for name in missing(offer, path, held)}


def test_what_no_rule_denies_passes(server: Server) -> None:
    """Without this the laws would be kept by a server that refuses everybody; last, for it changes things."""
    for path in ("/mcp", "/mcp/graph"):
        for one in calls(path, server.scene.held("user:alice"), "user:alice"):
            assert "is denied" not in _called(server, "alice", path, one).text, str(one)
    for one in _asks(server):
        caller = "admin" if one.permission == "admin" else "alice"
        assert b"is denied" not in server.ask(caller, one.method, one.path, one.body, one.headers).body, str(one)


def _state(server: Server) -> str:
    vault = server.home.vault("user:alice")
    kept = [vault.memories.list(state=state, limit=1000) for state in ("active", "archived", "soft_deleted")]
    said = [vault.sessions.chat(one.id).messages(limit=1000) for one in vault.sessions.list(limit=1000)]
    return repr((kept, said, server.home.keys.list()))
