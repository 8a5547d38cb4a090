"""Reads one line of a Codex log."""

from collections.abc import Mapping
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message, Role, ToolCall
from recollectum.transfer.agent_lines import AgentLine, count_attachments, imported_message
from recollectum.transfer.foreign_json import Fields, parse

AGENT = "codex"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_CALLS = ("function_call", "custom_tool_call")
#: Texts that the program sends to its model as the user.
_WRAPPERS = ("<environment_context>", "<user_instructions>")


def read_line(value: Mapping[str, Json]) -> AgentLine:
    """Return the content of a line; other lines repeat the items, or have no message."""
    fields = Fields(value, "line")
    at, kind = fields.time("timestamp"), fields.text("type")
    payload = fields.object("payload")
    if kind == "session_meta":
        return AgentLine(conversation=Fields(payload, "payload").text("id"), at=at)
    if kind != "response_item":
        return AgentLine(at=at)
    parts = Fields(payload, "payload").objects("content") if payload.get("type") == "message" else ()
    attached = count_attachments(parts, "input_image", "input_file")
    return AgentLine(at=at, message=_item(payload, at, str(value.get("ordinal", at))), attachments=attached)


def _item(payload: Mapping[str, Json], at: datetime, ordinal: str) -> Message | None:
    fields = Fields(payload, "payload")
    kind, native_id = fields.text("type"), fields.optional_text("id") or f"line {ordinal}"
    if kind in _CALLS:
        given = payload.get("arguments", payload.get("input"))
        call = ToolCall(id=fields.text("call_id"), name=fields.text("name"), args=_arguments(given), at=at)
        return imported_message(role=Role.ASSISTANT, text="", at=at, native_id=native_id, calls=(call,))
    role = _ROLES.get(str(payload.get("role"))) if kind == "message" else None
    if role is None:
        return None
    parts = fields.objects("content")
    text = "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))
    if not text or (role is Role.USER and text.startswith(_WRAPPERS)):
        return None
    return imported_message(role=role, text=text, at=at, native_id=native_id)


def _arguments(given: Json) -> Mapping[str, Json]:
    """Return the arguments of a tool: an object that is encoded as a text."""
    try:
        value = parse(given) if isinstance(given, str) else given
    except InvalidInput:
        value = given
    return value if isinstance(value, dict) else {"input": value}
