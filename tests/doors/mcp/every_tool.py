"""One walk through everything that the usual profile offers, as a real client takes it."""

from mcp import Client
from mcp_types import CallToolResult, TextContent

from recollectum.doors.mcp.catalogue import DEFAULT
from tests.doors.mcp.served import Person

_STATUS = {
    Person.AGREES: "forgotten",
    Person.DECLINES: "kept",
    Person.CANNOT_BE_ASKED: "confirmation_needed",
}


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def walk(client: Client, *, person: Person) -> None:
    """Use every tool, resource and prompt, and look at what comes back."""
    tools = (await client.list_tools()).tools
    assert [one.name for one in tools] == [one.name for one in DEFAULT.tools]
    kept = await _remember_and_recall(client)
    await _read(client, kept)
    await _forget(client, kept, person=person)


async def _remember_and_recall(client: Client) -> str:
    saved = await client.call_tool("remember", {"content": "Alice drinks oolong at noon.", "key": "tea"})
    assert not saved.is_error, text_of(saved)
    assert saved.structured_content is not None
    memory = saved.structured_content["memory"]
    assert (memory["trust"], memory["agent"], memory["key"]) == ("assistant", "tester", "tea")
    found = await client.call_tool("recall", {"query": "oolong", "source": "memories", "limit": 3})
    assert found.structured_content is not None
    (hit,) = found.structured_content["hits"]
    assert hit["memory_id"] == memory["id"]
    lines = text_of(found).splitlines()
    assert lines[1] == lines[-1].replace("</", "<"), "the hits stand between two marks"
    assert "trust: assistant" in lines[2]
    assert lines[3] == "| Alice drinks oolong at noon."
    return str(memory["id"])


async def _read(client: Client, kept: str) -> None:
    made = await client.call_tool("context", {"query": "oolong"})
    assert "Alice drinks oolong at noon." in text_of(made)
    listed = await client.call_tool("list", {"limit": 5})
    assert listed.structured_content is not None
    assert kept in [one["id"] for one in listed.structured_content["memories"]]
    talks = await client.call_tool("sessions", {})
    assert talks.structured_content is not None
    assert "agent:tester:mcp:direct" in [one["key"] for one in talks.structured_content["sessions"]]
    one = await client.call_tool("sessions", {"session_id": talks.structured_content["sessions"][0]["id"]})
    assert one.structured_content is not None
    assert one.structured_content["messages"]
    assert [str(found.uri) for found in (await client.list_resources()).resources] == ["memory://profile"]
    assert len((await client.list_resource_templates()).resource_templates) == 2
    assert "oolong" in str((await client.read_resource("memory://profile")).contents)
    shown = str((await client.read_resource(f"memory://{kept}")).contents)
    assert kept in shown
    assert '"sources": [{"session_id": "ses_' in shown
    assert [found.name for found in (await client.list_prompts()).prompts] == ["recall", "profile"]
    assert "oolong" in str((await client.get_prompt("recall", {"topic": "oolong"})).messages)


async def _forget(client: Client, kept: str, *, person: Person) -> None:
    asked = await client.call_tool("forget", {"id": kept})
    assert asked.structured_content is not None, text_of(asked)
    status = asked.structured_content["status"]
    assert status == _STATUS[person]
    if person is Person.CANNOT_BE_ASKED:
        made_up = await client.call_tool("forget", {"id": kept, "confirm": "1999999999." + "0" * 64})
        assert made_up.is_error
        again = await client.call_tool("forget", {"id": kept, "confirm": asked.structured_content["token"]})
        assert again.structured_content is not None
        assert again.structured_content["status"] == "forgotten"
    found = await client.call_tool("recall", {"query": "oolong", "source": "memories"})
    assert found.structured_content is not None
    assert bool(found.structured_content["hits"]) == (person is Person.DECLINES)
