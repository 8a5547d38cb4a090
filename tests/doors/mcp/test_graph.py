"""The graph profile does what the reference memory server does, and keeps it in the vault."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextResourceContents

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import MAX_CONTENT
from recollectum.domain.trust import Trust
from recollectum.doors.mcp.client import Confirmations, McpClient
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.knowledge_graph.file_import import import_file
from tests.doors.cli.calls import ok
from tests.doors.mcp.every_tool import text_of
from tests.doors.mcp.served import over_http, over_stdio, run, serving
from tests.storage.statements import traced
from tests.tools.npm import node, node_package

pytestmark = pytest.mark.process

PACKAGE, VERSION = "@modelcontextprotocol/server-memory", "2026.8.31"

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes teal", "sagt „grüß Gott“"]}
ACME: dict[str, Any] = {"name": "Acme", "entityType": "org", "observations": []}
BO = {"name": "bo\n(the second)", "entityType": "person", "observations": ["knows Ann", "Knows ann."]}
WORKS = {"from": "Ann", "to": "Acme", "relationType": "works_at"}
KNOWS = {"from": BO["name"], "to": "Ann", "relationType": "knows"}
STRAY = {"from": "Nobody", "to": "Nowhere", "relationType": "lives_in"}

#: Everything the nine tools can do, with what changes and what does not.
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, ACME]}),
    ("create_entities", {"entities": [{**ANN, "observations": ["another"]}, BO]}),
    ("create_relations", {"relations": [WORKS, KNOWS, STRAY]}),
    ("create_relations", {"relations": [WORKS]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["speaks French", "likes teal"]}]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["Likes Teal"]}]}),
    (
        "add_observations",
        {
            "observations": [
                {"entityName": "Acme", "contents": ["must not be kept"]},
                {"entityName": "Nobody", "contents": ["x"]},
            ]
        },
    ),
    ("search_nodes", {"query": "FRENCH"}),
    ("search_nodes", {"query": "person"}),
    ("search_nodes", {"query": "nothing of the kind"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Acme", "Nobody"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["likes teal", "never said"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Nobody", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [KNOWS, {**KNOWS, "relationType": "likes"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Acme", "Nobody"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [ACME]}),
    ("read_graph", {}),
]


def answer_of(result: CallToolResult) -> tuple[object, object, object]:
    words = text_of(result)
    return result.is_error or False, result.structured_content, words


async def _walk(client: Client) -> list[object]:
    """What a server says to every step, and at the end."""
    said: list[object] = [answer_of(await client.call_tool(tool, arguments)) for tool, arguments in STEPS]
    (contents,) = (await client.read_resource("memory://knowledge-graph")).contents
    assert isinstance(contents, TextResourceContents)
    return [*said, json.loads(contents.text)]


def _forms(schema: object) -> object:
    """A schema without the words that only people read."""
    if isinstance(schema, dict):
        left_out = ("description", "$schema", "additionalProperties")
        return {name: _forms(one) for name, one in cast("dict[str, object]", schema).items() if name not in left_out}
    return [_forms(one) for one in cast("list[object]", schema)] if isinstance(schema, list) else schema


def test_it_answers_as_the_reference_server_does(tmp_path: Path) -> None:
    program = node_package(PACKAGE, VERSION) / "dist" / "index.js"
    file = tmp_path / "memory.jsonl"
    reference = StdioServerParameters(command=str(node()), args=[str(program)], env={"MEMORY_FILE_PATH": str(file)})

    async def work() -> None:
        async with Client(reference, mode="legacy") as theirs, over_stdio("legacy", "--profile", "graph") as ours:
            tools, named = (await theirs.list_tools()).tools, (await ours.list_tools()).tools
            assert [one.name for one in named] == [one.name for one in tools]
            for mine, other in zip(named, tools, strict=True):
                assert _forms(mine.input_schema) == _forms(other.input_schema), mine.name
                assert _forms(mine.output_schema) == _forms(other.output_schema), mine.name
                assert mine.annotations == other.annotations, mine.name
            assert (await ours.list_resources()).resources[0].uri == (await theirs.list_resources()).resources[0].uri
            wanted, made = await _walk(theirs), await _walk(ours)
            for step, mine, other in zip([*STEPS, "resource"], made, wanted, strict=True):
                assert mine == other, step

    run(work)


@pytest.mark.loopback
def test_it_is_there_over_http_too(tmp_path: Path) -> None:
    async def work() -> None:
        async with over_http(served.url, key, "auto", path="/mcp/graph") as client:
            assert [one.name for one in (await client.list_tools()).tools] == [one.name for one in GRAPH.tools]
            said = await _walk(client)
            assert said[-1] == {
                "entities": [
                    {**ANN, "observations": ["sagt „grüß Gott“", "speaks French", "Likes Teal"]},
                    BO,
                    ACME,
                ],
                "relations": [],
            }

    with serving(tmp_path / "home") as served:
        key = served.new_key("user:alice")
        run(work)


def test_what_it_keeps_are_memories(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        vault = home.vault("user:alice")
        guest = McpClient(vault, "tester", Confirmations())
        call_tool(GRAPH, guest, "create_entities", {"entities": [ANN, ACME]})
        call_tool(
            GRAPH, guest, "add_observations", {"observations": [{"entityName": "Ann", "contents": ["rides a bike"]}]}
        )
        (hit,) = vault.recall("bike", source="memories")
        assert hit.trust is Trust.ASSISTANT
        memory = vault.memories.get(str(hit.source.memory_id))
        assert (memory.agent, memory.version) == ("tester", 2)
        call_tool(GRAPH, guest, "delete_entities", {"entityNames": ["Ann"]})
        assert not vault.recall("bike", source="memories")
        assert vault.memories.move(memory.id, "active").content == memory.content


def test_what_names_its_nodes_finds_them_by_their_keys_and_reads_no_others(tmp_path: Path) -> None:
    named: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [ANN, BO]}),
        ("create_relations", {"relations": [WORKS, KNOWS]}),
        ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["rides a bike"]}]}),
        ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["rides a bike"]}]}),
        ("delete_relations", {"relations": [KNOWS]}),
    ]
    with traced() as log, Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        guest = McpClient(home.vault("user:alice"), "tester", Confirmations())

        def listed(tool: str, arguments: dict[str, Any]) -> bool:
            return any("key >= " in sql for sql in log.of(lambda: call_tool(GRAPH, guest, tool, arguments)))

        assert not [tool for tool, arguments in named if listed(tool, arguments)]
        assert listed("read_graph", {})


def test_a_secret_does_not_break_it(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        guest = McpClient(home.vault("user:alice"), "tester", Confirmations())
        entity = {"name": "key", "entityType": "secret", "observations": [f"the token is {token}"]}
        call_tool(GRAPH, guest, "create_entities", {"entities": [entity]})
        said = str(call_tool(GRAPH, guest, "read_graph", {}))
        assert token not in said
        assert "the token is" in said


def test_its_file_is_brought_in_once(tmp_path: Path) -> None:
    lines = [
        json.dumps({"type": "entity", **ANN}),
        json.dumps({"type": "entity", **ACME}),
        "{broken",
        json.dumps({"type": "relation", **WORKS}),
        "",
        json.dumps({"type": "else"}),
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    first = ok("--json", "mcp", "import-graph", str(file)).json["report"]
    nothing: dict[str, object] = {"replaced": {}, "kept": [], "unindexed": 0}
    assert first == {"added": 3, "known": 0, "damaged": [3, 6], "notice": nothing}
    again = ok("--json", "mcp", "import-graph", str(file)).json["report"]
    assert again == {"added": 0, "known": 3, "damaged": [3, 6], "notice": nothing}


def test_what_is_brought_in_is_believed_as_that(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(json.dumps({"type": "entity", **ANN}), encoding="utf-8")
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        vault = home.vault("user:alice")
        import_file(vault, str(file))
        (memory,) = vault.memories.list()
        assert memory.trust is Trust.IMPORTED
        file.write_text(json.dumps({"type": "entity", **ANN, "observations": ["sings"]}), encoding="utf-8")
        assert import_file(vault, str(file)).added == 1
        guest = McpClient(vault, "tester", Confirmations())
        assert "likes teal" in str(call_tool(GRAPH, guest, "search_nodes", {"query": "sings"}))


@pytest.mark.parametrize("known", [False, True])
def test_a_graph_with_a_line_that_is_too_long_is_refused_before_anything_is_written(
    tmp_path: Path,
    known: bool,  # noqa: FBT001
) -> None:
    file = tmp_path / "memory.jsonl"
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        vault = home.vault("user:alice")
        if known:
            file.write_text(json.dumps({"type": "entity", **ANN}), encoding="utf-8")
            import_file(vault, str(file))
        before = vault.memories.list(), vault.sessions.list()
        long = {"type": "entity", **ANN, "observations": ["x" * (MAX_CONTENT + 1)]}
        file.write_text("\n".join(map(json.dumps, ({"type": "entity", **ACME}, long))), encoding="utf-8")
        with pytest.raises(InvalidInput, match="too long"):
            import_file(vault, str(file))
        assert (vault.memories.list(), vault.sessions.list()) == before
