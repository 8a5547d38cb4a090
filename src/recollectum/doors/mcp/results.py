"""Formats tool results as fenced text for a model and as JSON for a program."""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence

from recollectum.context.fences import RECALLED, closing, opening
from recollectum.context.rendering import AS_DATA, recalled
from recollectum.domain.context import RecalledText
from recollectum.domain.hit import Hit
from recollectum.domain.memory import Citation, Memory
from recollectum.domain.message import Json, Message
from recollectum.domain.notice import Notice
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.doors.json_values import to_json
from recollectum.doors.mcp.catalogue import HIT, MEMORY, MESSAGE, SESSION
from recollectum.doors.mcp.declarations import Wire

#: The name of the question, of its answer, and of the argument that holds the token.
CONFIRM = "confirm"
_ASKED: Wire = {
    "type": "object",
    "properties": {CONFIRM: {"type": "boolean", "title": "Forget it", "default": False}},
    "required": [CONFIRM],
}
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool."""

    text: str
    structured: Mapping[str, Json]
    #: What is said beside the text, where the text has a form that programs read.
    remarks: tuple[str, ...] = ()

    def wire(self) -> Wire:
        """Return the result of `tools/call`."""
        return {
            "content": [{"type": "text", "text": one} for one in (self.text, *self.remarks)],
            "structuredContent": dict(self.structured),
            "isError": False,
        }


def notice_sentences(notice: Notice) -> tuple[str, ...]:
    """Return what a write did to its text besides storing it, in sentences."""
    return tuple(f"{one}." for one in notice.sentences())


@dataclass(frozen=True, slots=True)
class ConfirmationQuestion:
    """What a person must confirm before a tool goes on."""

    message: str
    #: The token that lets the tool go on afterwards.
    token: str
    #: The text for a client that cannot ask.
    otherwise: ToolAnswer

    def wire(self) -> Wire:
        """Return the result of `tools/call` that makes the client ask."""
        params = {"message": self.message, "mode": "form", "requestedSchema": _ASKED}
        asked = {CONFIRM: {"method": "elicitation/create", "params": params}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": self.token}


def error_result(sentence: str) -> Wire:
    """Return a result that tells a model what it did wrong."""
    return {"content": [{"type": "text", "text": sentence}], "isError": True}


def fence_texts(texts: Sequence[RecalledText], nothing: str) -> str:
    """Return texts from the vault between two marks that none of them can forge, each with its source and trust."""
    if not texts:
        return nothing
    mark = secrets.token_hex(_MARK_BYTES)
    body = "\n".join(recalled(one, mark) for one in texts)
    return f"{AS_DATA}\n{opening(RECALLED, mark)}\n{body}\n{closing(RECALLED, mark)}"


def memory_text(memory: Memory) -> RecalledText:
    """Return a memory, ready for a fence."""
    said_by = memory.agent or memory.author or "unknown"
    return RecalledText(
        id=memory.id,
        text=memory.content,
        source=f"memory {memory.id}",
        trust=memory.trust,
        author=said_by,
        at=memory.created_at,
    )


def hit_text(hit: Hit) -> RecalledText:
    """Return a hit, ready for a fence."""
    return RecalledText(
        id=str(hit.source), text=hit.text, source=str(hit.source), trust=hit.trust, author=hit.author, at=hit.created_at
    )


def message_text(message: Message) -> RecalledText:
    """Return a message, ready for a fence."""
    return RecalledText(
        id=message.id,
        text=message.text,
        source=f"message {message.position}",
        trust=message.trust,
        author=message.speaker or message.role.value,
        at=message.created_at,
    )


def memory_json(memory: Memory) -> dict[str, Json]:
    """Return a memory as JSON, with the names that all doors use."""
    return _pick(memory, MEMORY["properties"])


def citation_json(one: Citation) -> dict[str, Json]:
    """Return a citation of a memory as JSON."""
    return _pick(one, ("session_id", "message_id", "position", "start", "end", "exact"))


def hit_json(hit: Hit) -> dict[str, Json]:
    """Return a hit as JSON."""
    place = {"source": str(hit.source), **_pick(hit.source, ("memory_id", "session_id"))}
    return {**place, **_pick(hit, (name for name in HIT["properties"] if name not in place))}


def session_json(session: Session) -> dict[str, Json]:
    """Return a conversation as JSON, without its messages."""
    return _pick(session, SESSION["properties"])


def message_json(message: Message) -> dict[str, Json]:
    """Return a message as JSON."""
    return _pick(message, MESSAGE["properties"])


def indented_json(value: object) -> str:
    """Return indented JSON for a reader."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _pick(value: object, names: Iterable[str]) -> dict[str, Json]:
    return {name: to_json(getattr(value, name)) for name in names}
