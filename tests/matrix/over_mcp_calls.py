"""Every tool, resource and prompt of both profiles as something to ask, and how it is asked over HTTP."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recollectum.doors.mcp.declarations import McpProfile
from tests.matrix import oracle
from tests.matrix.over_http_routes import LISTED, TALKS
from tests.matrix.over_http_server import Answer, Server
from tests.matrix.world import COMMON, Held, canary

NOTHING: frozenset[str] = frozenset()
NEWEST, OLDER = "2026-07-28", "2025-11-25"
_META = "io.modelcontextprotocol/"
_ACCEPT = {"Accept": "application/json, text/event-stream"}
#: Under what each method names the thing that it is about.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NODE = frozenset({"node"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of the protocol, and what the rules say of it."""

    method: str
    name: str
    arguments: Mapping[str, Any] | None = None
    permission: str = "read"
    #: The places whose canaries it shows to the person whose vault it is.
    shows: frozenset[str] = NOTHING
    #: The id it is about.
    id: str = ""
    #: Whether what it is about is there for its owner.
    there: bool = True

    def __str__(self) -> str:
        """The call, for a finding."""
        return f"{self.method} {self.name.partition('://')[0]} {sorted(self.arguments or ())}"


def ask(server: Server, caller: str, path: str, call: Call, *, agent: str = "tester") -> Answer:
    """Ask it in the newest era, in which each request stands for itself."""
    params: dict[str, Any] = {_NAMED[call.method]: call.name} if call.method in _NAMED else {}
    if call.arguments is not None:
        params["arguments"] = dict(call.arguments)
    params["_meta"] = {
        f"{_META}protocolVersion": NEWEST,
        f"{_META}clientCapabilities": {},
        f"{_META}clientInfo": {"name": agent, "version": "1"},
    }
    headers = {**_ACCEPT, "MCP-Protocol-Version": NEWEST, "Mcp-Method": call.method}
    if call.method in _NAMED:
        headers["Mcp-Name"] = call.name
    body = {"jsonrpc": "2.0", "id": 1, "method": call.method, "params": params}
    return server.ask(caller, "POST", path, body, headers)


def begin(server: Server, caller: str) -> dict[str, str]:
    """Begin a session of an older era; what its requests carry."""
    params = {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    begun = server.ask(caller, "POST", "/mcp", hello, _ACCEPT)
    return {**_ACCEPT, "Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": OLDER}


def calls(path: str, held: Held, owner: str) -> list[Call]:
    """Everything that one profile offers, aimed at what one vault holds."""
    return [*(_graph(owner) if path.endswith("graph") else _usual(held))]


def missing(offer: McpProfile, path: str, held: Held) -> set[str]:
    """What a profile offers that nothing here asks."""
    asked = {(one.method, one.name.partition("//")[0]) for one in calls(path, held, "user:alice")}
    offered = {
        *(("tools/call", one.name) for one in offer.tools),
        *(("resources/read", one.uri.partition("//")[0]) for one in offer.resources),
        *(("prompts/get", one.name) for one in offer.prompts),
    }
    return {f"{method} {name}" for method, name in offered - asked}


def _tool(name: str, arguments: Mapping[str, Any], shows: frozenset[str] = NOTHING, *, id_: str = "") -> Call:
    return Call(method="tools/call", name=name, arguments=arguments, shows=shows, id=id_)


def _write(name: str, arguments: Mapping[str, Any]) -> Call:
    return Call(method="tools/call", name=name, arguments=arguments, permission="write")


def _usual(held: Held) -> Iterator[Call]:
    known = oracle.RECALLED | {"learned"}
    yield _tool("recall", {"query": COMMON, "limit": 50}, oracle.RECALLED)
    yield _tool("context", {"query": COMMON}, known)
    for state, shown in LISTED.items():
        yield _tool("list", {"state": state, "limit": 100}, shown)
    yield _tool("sessions", {"limit": 100}, TALKS)
    for number, id_ in enumerate(held.sessions):
        talk = frozenset({f"talk{number}"})
        yield _tool("sessions", {"session_id": id_}, talk, id_=id_)
        yield Call(method="resources/read", name=f"session://{id_}", shows=talk, id=id_)
    for place, id_ in held.memories.items():
        shows = frozenset({place}) & oracle.BY_ID
        yield Call(method="resources/read", name=f"memory://{id_}", shows=shows, id=id_, there=bool(shows))
    yield Call(method="resources/read", name="memory://profile", shows=oracle.AS_CONTEXT | NODE)
    yield Call(method="prompts/get", name="recall", arguments={"topic": COMMON}, shows=oracle.RECALLED)
    yield Call(method="prompts/get", name="profile", arguments={}, shows=oracle.AS_CONTEXT | NODE)
    yield _tool("forget", {"id": held.memories["active"]}, id_=held.memories["active"])
    yield _write("remember", {"content": "something new"})


def _graph(owner: str) -> Iterator[Call]:
    name = canary(owner, "node")
    for tool, arguments in (
        ("read_graph", {}),
        ("search_nodes", {"query": "canary"}),
        ("open_nodes", {"names": [name]}),
    ):
        yield _tool(tool, arguments, NODE)
    yield Call(method="resources/read", name="memory://knowledge-graph", shows=NODE)
    ends = {"from": name, "to": name, "relationType": "is"}
    yield _write("create_entities", {"entities": [{"name": "a new one", "entityType": "x", "observations": []}]})
    yield _write("create_relations", {"relations": [{**ends, "to": "a new one"}]})
    yield _write("add_observations", {"observations": [{"entityName": name, "contents": ["seen again"]}]})
    yield _write("delete_observations", {"deletions": [{"entityName": name, "observations": ["seen"]}]})
    yield _write("delete_relations", {"relations": [ends]})
    yield _write("delete_entities", {"entityNames": [name]})
