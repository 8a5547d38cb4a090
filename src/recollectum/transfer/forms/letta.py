"""Reads agent files of Letta (.af): blocks become memories, messages a conversation for each agent."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, ToolCall
from recollectum.transfer.agent_lines import count_attachments
from recollectum.transfer.foreign_json import as_object
from recollectum.transfer.forms.building import (
    EPOCH,
    Talk,
    as_arguments,
    optional_moment,
    role_of,
    text_digest,
    text_field,
    text_or_none,
    texts_of,
)
from recollectum.transfer.forms.json_files import read_object
from recollectum.transfer.forms.memory_lists import memory_of
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "letta"
NAME = "Letta agent file"
#: Lists of an agent file that hold no conversation and no memory.
_OTHERS = {
    "files": "file",
    "sources": "data source",
    "tools": "tool",
    "mcp_servers": "MCP server",
    "skills": "skill",
    "groups": "group",
}


def fits(value: Mapping[str, Json]) -> bool:
    """Return whether an object is an agent file."""
    return isinstance(value.get("agents"), list) and isinstance(value.get("blocks"), list)


def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the blocks, then the messages of each agent."""
    value = read_object(file, progress)
    began = optional_moment(value.get("created_at"), EPOCH)
    agents = _objects(value.get("agents"))
    if _objects(value.get("blocks")):
        named = ", ".join(str(agent.get("id")) for agent in agents)
        talk = Talk(AGENT, f"blocks of {named}", began, title="Letta blocks")
        yield talk.begins
        for block in _objects(value.get("blocks")):
            yield from memory_of(block.get("id"), block.get("value"), began, extra={"label": block.get("label")})
    for agent in agents:
        yield from _agent(agent, began)
    for name, what in _OTHERS.items():
        if count := len(_objects(value.get(name))):
            yield OmittedPart(what, count)


def _agent(agent: Mapping[str, Json], began: datetime) -> Iterator[ForeignItem]:
    messages = _objects(agent.get("messages"))
    if not messages:
        return
    first = optional_moment(messages[0].get("created_at"), began)
    # An agent file numbers its agents and messages anew, so their ids say little: another file has the same ones.
    name = text_or_none(agent.get("name")) or "agent"
    talk = Talk(AGENT, f"{name} {agent.get('id')}", first, title=name)
    yield talk.begins
    at = first
    for place, message in enumerate(messages, start=1):
        at = optional_moment(message.get("created_at"), at)
        try:
            calls = tuple(_call(call) for call in _objects(message.get("tool_calls")))
            text = texts_of(message.get("content"))
            if images := count_attachments(_objects(message.get("content")), "image"):
                yield OmittedPart("attachment", images)
            if text or calls:
                native = f"{at.isoformat()} {text_digest(text_field(message, 'role', 'the message') + text)}"
                model, kept = text_or_none(message.get("model")), {"id": message.get("id")}
                yield talk.say(role_of(message["role"]), text, at, native, calls=calls, model=model, extra=kept)
        except InvalidInput as error:
            yield DamagedPart(f"message {place}", str(error))


def _call(call: Mapping[str, Json]) -> ToolCall:
    function = as_object(call.get("function"), "the tool call")
    return ToolCall(
        id=str(call.get("id")), name=str(function.get("name")), args=as_arguments(function.get("arguments"))
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
