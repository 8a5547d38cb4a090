"""Reads one line of a Claude Code log."""

from collections.abc import Mapping, Sequence

from recollectum.domain.message import Json, Message, Part, Role, ToolCall
from recollectum.transfer.agent_lines import AgentLine, count_attachments, flag, imported_message
from recollectum.transfer.foreign_json import Fields, as_objects

AGENT = "claude"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
#: Entries that the program adds for itself or for its model; a side chain is the work of a subagent.
_ASIDE = ("isMeta", "isCompactSummary", "isSidechain")
#: The model name of a placeholder reply, which no model gave.
_NO_MODEL = "<synthetic>"
_WRAPPERS = ("<command-name>", "<command-message>", "<local-command-")


def read_line(value: Mapping[str, Json]) -> AgentLine:
    """Return the content of a line; a line of an unknown kind has no message."""
    fields = Fields(value, "line")
    conversation, at = fields.optional_text("sessionId"), fields.optional_time("timestamp")
    role = _ROLES.get(str(value.get("type")))
    if role is None or any(flag(value, name) for name in _ASIDE):
        return AgentLine(conversation=conversation, at=at)
    said = Fields(value, "line").object("message")
    attached = count_attachments(_parts(said.get("content")), "image", "document")
    return AgentLine(conversation=conversation, at=at, message=_message(value, role), attachments=attached)


def _message(value: Mapping[str, Json], role: Role) -> Message | None:
    fields = Fields(value, "line")
    at, native_id = fields.time("timestamp"), fields.text("uuid")
    said = Fields(fields.value("message"), "message")
    parts = _parts(said.value("content"))
    text = "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))
    calls = tuple(_call(part) for part in parts if part.get("type") == "tool_use")
    model = said.optional_text("model")
    if not (text or calls) or model == _NO_MODEL or (role is Role.USER and text.startswith(_WRAPPERS)):
        return None
    thoughts = tuple(part for part in parts if part.get("type") == "thinking")
    return imported_message(
        role=role, text=text, at=at, native_id=native_id, calls=calls, thoughts=thoughts, model=model
    )


def _parts(content: Json) -> Sequence[Part]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return () if content is None else as_objects(content, "message.content")


def _call(part: Part) -> ToolCall:
    fields = Fields(part, "message.content[]")
    return ToolCall(id=fields.text("id"), name=fields.text("name"), args=fields.object("input"))
