"""A wrong argument is a result that says in one sentence what is wrong, and never repeats a value."""

from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import Confirmations, McpClient, agent_name
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.protocol_versions import ProtocolError
from tests.doors.mcp.every_tool import text_of
from tests.doors.mcp.served import MODES, over_stdio, run

pytestmark = pytest.mark.process

SECRET = "the plan for the surprise party"
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("remember", {}),
    ("remember", {"content": "  "}),
    ("remember", {"content": 3}),
    ("remember", {"content": SECRET, "kind": SECRET}),
    ("remember", {"content": SECRET, "key": SECRET}),
    ("remember", {"content": "tea", "key": "system_tea"}),
    ("remember", {"content": SECRET, "importance": 2}),
    ("remember", {"content": SECRET, "importance": float("nan")}),
    ("remember", {"content": SECRET, "ttl_minutes": 1.5}),
    ("remember", {"content": SECRET, "ttl_minutes": True}),
    ("remember", {"content": SECRET, "note": SECRET}),
    ("recall", {"query": "tea", "limit": 0}),
    ("recall", {"query": "tea", "source": SECRET}),
    ("recall", {"query": "tea", "since": SECRET}),
    ("context", {"tokens": "many"}),
    ("list", {"state": "purged"}),
    ("list", {"limit": 101}),
    ("forget", {}),
    ("sessions", {"limit": None}),
    ("create_entities", {"entities": [{"name": SECRET}]}),
    ("create_entities", {"entities": [{"name": "a", "entityType": "b", "observations": [SECRET, 3]}]}),
    ("open_nodes", {"names": SECRET}),
]


@pytest.fixture
def guest(tmp_path: Path) -> McpClient:
    home = Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0})
    return McpClient(home.vault("user:alice"), "tester", Confirmations())


@pytest.mark.parametrize(("tool", "arguments"), WRONG, ids=lambda one: str(one)[:60])
def test_a_wrong_argument_is_one_sentence_without_its_value(
    tool: str, arguments: dict[str, Any], guest: McpClient
) -> None:
    offer = GRAPH if GRAPH.tool(tool) else DEFAULT
    with pytest.raises(InvalidInput) as refused:
        call_tool(offer, guest, tool, arguments)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert SECRET not in sentence
    assert not guest.vault.memories.list()
    assert not guest.vault.sessions.list()


@pytest.mark.parametrize("mode", MODES[:2])
def test_the_client_gets_it_as_a_result(mode: str) -> None:
    async def work() -> None:
        async with over_stdio(mode) as client:
            refused = await client.call_tool("remember", {"content": 3})
            assert refused.is_error
            assert text_of(refused) == "remember.content must be of type string"
            missing = await client.call_tool("forget", {"id": "mem_none"})
            assert missing.is_error
            assert text_of(missing).startswith("there is no memory")
            with pytest.raises(Exception, match="there is no tool 'purge'"):
                await client.call_tool("purge", {})

    run(work)


def test_an_unknown_tool_of_the_other_profile_is_unknown(guest: McpClient) -> None:
    with pytest.raises(ProtocolError, match="there is no tool"):
        call_tool(DEFAULT, guest, "read_graph", {})


def test_leave_to_forget_is_for_one_memory_as_it_stands_and_one_caller(guest: McpClient, tmp_path: Path) -> None:
    vault, leave = guest.vault, guest.confirmations
    tea, coffee = vault.memories.save("tea").memory, vault.memories.save("coffee").memory
    token = leave.give(vault, tea)
    leave.check(vault, tea, token)
    with Recollectum(tmp_path / "other", settings={"storage.reserve_mib": 0}) as other:
        bobs = other.vault("user:bob")
        changed = vault.memories.edit(tea.id, "green tea")
        for wrong in ((vault, coffee, token), (vault, changed, token), (bobs, tea, token), (vault, tea, token + "0")):
            with pytest.raises(InvalidInput, match="not valid"):
                leave.check(*wrong)
    for made_up in ("", ".", "x.y", "9" * 300 + ".0", "1999999999.é"):
        with pytest.raises(InvalidInput, match="not valid"):
            leave.check(vault, tea, made_up)
    with pytest.raises(InvalidInput, match="not valid"):
        Confirmations().check(vault, tea, token)


def test_forgetting_needs_leave(guest: McpClient) -> None:
    kept = guest.vault.memories.save("tea").memory
    call_tool(DEFAULT, guest, "forget", {"id": kept.id})
    assert guest.vault.memories.get(kept.id).content == "tea"
    with pytest.raises(NotFound):
        call_tool(DEFAULT, guest, "forget", {"id": "mem_of_somebody_else"})


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "Visual-Studio-Code"),
        ("a/b:c\\d", "a-b-c-d"),
        ("x\0\x1b[31m\n", "x-[31m"),
        ("", "mcp"),
        (None, "mcp"),
        ("..", "mcp"),
        ("n" * 500, "n" * 64),
        ("сlaude", "mcp"),
    ],
)
def test_a_client_has_a_name_that_can_stand_in_a_key(given: object, name: str) -> None:
    assert agent_name(given) == name
