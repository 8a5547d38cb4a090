"""The front answers what needs no vault by itself, says the same as the SDK's server, and loads nothing for it."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from recollectum.doors.cli import entry
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import McpClient
from recollectum.doors.mcp.declarations import McpProfile
from recollectum.doors.mcp.http_mount import build_server
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.protocol_versions import version
from recollectum.doors.mcp.stdio_main import StdioFlags, parse_stdio_flags
from tests.doors.cli.calls import refused
from tests.doors.mcp.stdio_requests import ENVELOPE, HELLO, request, talk

pytestmark = pytest.mark.process

LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
#: What a process that has only listed tools must not have loaded.
HEAVY = (
    "recollectum.engine",
    "recollectum.vault",
    "recollectum.storage",
    "pydantic",
    "mcp",
    "typer",
    "rich",
    "asyncio",
    "apsw",
)


def _nobody(_: object, __: str) -> McpClient:
    raise AssertionError("no list needs a vault")


async def _by_sdk(server: Server[Any], offer: McpProfile, mode: str) -> dict[str, Any]:
    """The same answers from the SDK's own server."""
    async with Client(server, mode=mode) as client:
        said: dict[str, Any] = {
            "tools/list": await client.list_tools(),
            "resources/list": await client.list_resources(),
            "resources/templates/list": await client.list_resource_templates(),
        }
        if offer.prompts:
            said["prompts/list"] = await client.list_prompts()
        session = client.session
        said["hello"] = session.initialize_result if mode == "legacy" else session.discover_result
        return {name: one.model_dump(by_alias=True, mode="json", exclude_none=True) for name, one in said.items()}


def _without(result: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name not in names}


@pytest.mark.parametrize("offer", [DEFAULT, GRAPH], ids=lambda one: one.profile)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_catalogue_is_what_the_sdk_says(offer: McpProfile, mode: str) -> None:
    server = build_server(offer, _nobody)
    theirs = asyncio.run(_by_sdk(server, offer, mode))
    methods = [one for one in LISTS if one in theirs]
    hello = request("initialize", HELLO) if mode == "legacy" else request("server/discover", ENVELOPE)
    params = None if mode == "legacy" else ENVELOPE
    first, *lists = talk([hello, *(request(one, params) for one in methods)], "--profile", offer.profile)
    # What only one era has, the client library fills in by itself.
    extra = ("resultType", "ttlMs", "cacheScope", "_meta") if mode == "legacy" else ()
    assert first["result"] == _without(theirs["hello"], *extra)
    for method, ours in zip(methods, lists, strict=True):
        assert ours["result"] == _without(theirs[method], *extra), method


def test_listing_tools_loads_neither_the_engine_nor_the_sdk() -> None:
    program = (
        "import json, sys\n"
        "from recollectum.doors.cli.entry import main\n"
        "code = main(['mcp'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    lines = [request("initialize", HELLO), *(request(one) for one in LISTS), request("ping")]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    assert all("result" in one for one in answers)
    loaded = set(json.loads(done.stderr))
    assert "recollectum.doors.mcp.stdio_server" in loaded
    assert not [name for name in loaded if name.startswith(HEAVY)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{nonsense", -32700),
        ("[]", -32600),
        ("3", -32600),
        (request("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}), -32602),
        (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}), -32600),
        (request("tools/call", {"name": "list", "arguments": {}}), -32600),
        (request("purge"), -32601),
        (request("initialize", {}), -32602),
        (request("ping", ENVELOPE), -32601),
    ],
)
def test_what_is_no_request_is_an_error_and_not_the_end(line: str, code: int) -> None:
    wrong, right = talk([line, request("tools/list", id=2)])
    assert wrong["error"]["code"] == code
    assert len(right["result"]["tools"]) == 6


def test_an_unknown_version_is_told_which_there_are() -> None:
    params = json.loads(json.dumps(ENVELOPE))
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    (answer,) = talk([request("tools/list", params)])
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


def test_a_home_that_cannot_be_opened_is_told_to_the_model() -> None:
    (answer,) = talk([request("tools/call", {**ENVELOPE, "name": "list", "arguments": {}})], "--user", "nobody")
    assert answer["result"]["isError"] is True
    assert "there is no home" in answer["result"]["content"][0]["text"]


def test_no_tool_purges() -> None:
    assert not [one.name for one in (*DEFAULT.tools, *GRAPH.tools) if "purge" in one.name]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["mcp"], StdioFlags()),
        (["mcp", "--user", "ann", "--home", "/h", "--profile", "graph"], StdioFlags("ann", "/h", "graph")),
        (["mcp", "install", "codex"], None),
        (["mcp", "--help"], None),
        (["mcp", "--profile", "none"], None),
        (["mcp", "--user", ""], None),
        (["mcp", "--user", "a", "--user", "b"], None),
        (["remember", "x"], None),
        ([], None),
    ],
)
def test_only_a_plain_line_takes_the_short_way(arguments: list[str], line: StdioFlags | None) -> None:
    assert parse_stdio_flags(arguments) == line


@pytest.mark.parametrize("profile", ["default", "graph"])
def test_the_whole_command_line_serves_as_well(profile: str) -> None:
    program = ("-m", "recollectum.doors.cli.main", "mcp", "--json", "--profile", profile)
    hello, listed = talk([request("initialize", HELLO), request("tools/list")], program=program)
    assert hello["result"]["serverInfo"]["name"] == "recollectum"
    assert len(listed["result"]["tools"]) == {"default": 6, "graph": 9}[profile]


def test_an_unknown_profile_is_refused() -> None:
    assert refused("mcp", "--profile", "none", code=2) == "there is no profile 'none'; use default or graph"


def test_any_other_line_takes_the_long_way(capfd: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["--version"]) == 0
    assert capfd.readouterr().out.strip() == version()


def test_what_a_tool_prints_does_not_reach_the_wire() -> None:
    program = (
        "from recollectum.doors.mcp import stdio_main\n"
        "from recollectum.doors.mcp.stdio_server import StdioServer\n"
        "before = StdioServer.serve\n"
        "StdioServer.serve = lambda self, lines: (print('noise', flush=True), before(self, lines))\n"
        "stdio_main.serve_stdio(stdio_main.StdioFlags())\n"
    )
    (answer,) = talk([request("tools/list")], program=("-c", program))
    assert "result" in answer
