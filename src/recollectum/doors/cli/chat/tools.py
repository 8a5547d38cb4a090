"""Gives the model two tools, remember and recall, and none that deletes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.domain.hit import Hit
from recollectum.domain.message import Json, Message, ToolCall, ToolStatus
from recollectum.domain.models.language_model import Tool
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

_KEPT = ("memories", "notes")
_AGENTS = (Trust.ASSISTANT, Trust.TOOL)


def search_for_chat(vault: "Vault", query: str, limit: int, *, besides: str) -> list[Hit]:
    """Return the best hits among memories; if there are none, among what people said in other sessions.

    The assistant's own messages are left out: they repeat what is known, and would rank above it.
    """
    kept = [hit for source in _KEPT for hit in vault.recall(query, limit=limit, source=source, answers_only=True)]
    if kept:
        return sorted(kept, key=lambda hit: -hit.score)[:limit]
    said = vault.recall(query, limit=4 * limit, source="sessions", answers_only=True)
    return [hit for hit in said if hit.trust not in _AGENTS and hit.source.session_id != besides][:limit]


def search_lines(vault: "Vault", query: str, limit: int, *, besides: str) -> list[str]:
    """Return the same as lines, each with its day and trust."""
    hits = search_for_chat(vault, query, limit, besides=besides)
    return [f"- {' '.join(hit.text.split())} ({hit.created_at.date()}, trust: {hit.trust})" for hit in hits]


#: More calls at once mean that the model is confused.
MOST_CALLS = 8
_HITS = 8


def _schema(name: str, what: str) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": what}},
        "required": [name],
        "additionalProperties": False,
    }


REMEMBER = Tool(
    name="remember",
    description=(
        "Save one fact verbatim, when the person wants it kept. It stays until it is forgotten, unless an operator "
        "chose that memories expire."
    ),
    schema=_schema("text", "The fact in one sentence that can be understood by itself."),
)
RECALL = Tool(
    name="recall",
    description="Search memories, earlier conversations and notes.",
    schema=_schema("query", "What to look for."),
)
TOOLS = (REMEMBER, RECALL)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The model's tools, for one message of the person."""

    vault: "Vault"
    #: What the person said.
    heard: Message
    #: The context of the model, which it must not learn again.
    served: Sequence[str] = ()

    def use(self, call: ToolCall, asking: Message) -> ToolCall:
        """Run the call and return it with its result; an error is returned to the model as the result."""
        try:
            match call.name:
                case REMEMBER.name:
                    result = self._remember(_text_argument(call, "text"), asking)
                case RECALL.name:
                    result = self._recall(_text_argument(call, "query"))
                case name:
                    raise InvalidInput(f"there is no tool {name[:40]!r}; use remember or recall")
        except RecollectumError as error:
            return replace(call, status=ToolStatus.FAILED, result=str(error))
        return replace(call, status=ToolStatus.COMPLETE, result=result)

    def _remember(self, text: str, asking: Message) -> str:
        # Imported here: only needed when something is saved.
        from recollectum.distil.reconciliation import adds_name, is_supported  # noqa: PLC0415
        from recollectum.distil.screening import EchoDetector  # noqa: PLC0415

        theirs = is_supported(text, self.heard.text) and not adds_name(text, self.heard.text)
        if not theirs and EchoDetector(self.served).repeats(text):
            return "That is known already, and was not kept a second time."
        # Text that the person did not say is the model's, and gets only the model's trust.
        saved = self.vault.memories.save(text, message_id=(self.heard if theirs else asking).id)
        told = "; ".join(saved.notice.sentences())
        return f"Remembered: {text}{f' ({told})' if told else ''}"

    def _recall(self, query: str) -> str:
        lines = search_lines(self.vault, query, _HITS, besides=self.heard.session_id)
        return "\n".join(lines) or "Nothing is known about that."


def with_call_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Return the calls with unique ids, and no more of them than allowed."""
    ids: set[str] = set()
    kept: list[ToolCall] = []
    for place, call in enumerate(calls[:MOST_CALLS], start=1):
        named = call if call.id and call.id not in ids else replace(call, id=f"call_{place}")
        ids.add(named.id)
        kept.append(replace(named, status=ToolStatus.PENDING, result=None))
    return tuple(kept)


def _text_argument(call: ToolCall, name: str) -> str:
    value = call.args.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{call.name} needs {name!r} as a non-empty string")
    return value.strip()
