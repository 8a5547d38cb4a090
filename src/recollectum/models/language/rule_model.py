"""RuleModel: answers by a few fixed rules, so that an agent can be tried without a model."""

import json
import re
from collections.abc import Iterator, Mapping

from recollectum.domain.message import Json, Role, ToolCall
from recollectum.domain.models.language_model import Finish, ModelIdentity, Piece, Prompt, Reply, Turn
from recollectum.models.language.costs import estimated_usage

_REMEMBER = re.compile(r"\s*(?:please\s+)?remember(?:\s+that)?[\s:,]+(?P<what>.+)", re.IGNORECASE | re.DOTALL)
_RECALL = re.compile(r"\s*(?:recall|what\s+do\s+you\s+(?:know|remember)\s+about)[\s:,]+(?P<what>.+)", re.IGNORECASE)
_WORD = re.compile(r"\S+\s*")


class RuleModel:
    """A model that repeats its prompt, and calls the tools `remember` and `recall` on request.

    The prompt goes into the first required text argument of the tool. The tool's answer is repeated.
    """

    identity = ModelIdentity(provider="scripted", model="rules")

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply."""
        last = prompt.turns[-1] if prompt.turns else Turn(role=Role.USER, text="")
        calls = _calls(prompt, last)
        text = "" if calls else _said(prompt, last)
        return Reply(
            text=text,
            tool_calls=calls,
            usage=estimated_usage(prompt, text),
            finish=Finish.TOOL_CALLS if calls else Finish.STOP,
            by=self.identity,
        )

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply, word by word."""
        reply = self.complete(prompt)
        yield from (Piece(text=word) for word in _WORD.findall(reply.text))
        yield Piece(reply=reply)

    def close(self) -> None:
        """Do nothing: the model holds no resources."""


def _calls(prompt: Prompt, last: Turn) -> tuple[ToolCall, ...]:
    if last.role is not Role.USER:
        return ()
    for name, rule in (("remember", _REMEMBER), ("recall", _RECALL)):
        found = rule.fullmatch(last.text)
        tool = next((tool for tool in prompt.tools if tool.name == name), None)
        if found and tool:
            args: Mapping[str, Json] = {_first_text(tool.schema): found["what"].strip()}
            return (ToolCall(id=f"call_{len(prompt.turns)}", name=name, args=args),)
    return ()


def _first_text(schema: Mapping[str, Json]) -> str:
    """Return the name of the argument that takes the prompt."""
    required = schema.get("required")
    return str(required[0]) if isinstance(required, list | tuple) and required else "text"


def _said(prompt: Prompt, last: Turn) -> str:
    if prompt.schema is not None:
        return json.dumps(smallest_value(prompt.schema))
    return last.text if last.role is Role.TOOL else f"You said: {last.text.strip()}"


def smallest_value(schema: Mapping[str, Json]) -> Json:
    """Return a minimal value that fits a schema: no items, no optional members, the first of several choices."""
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    choices = schema.get("enum") or schema.get("anyOf")
    if isinstance(choices, list | tuple) and choices:
        first = choices[0]
        return first if "enum" in schema or not isinstance(first, Mapping) else smallest_value(first)
    kind = schema.get("type")
    return _of_kind(str(kind[0]) if isinstance(kind, list | tuple) else kind, schema)


def _of_kind(kind: Json, schema: Mapping[str, Json]) -> Json:
    match kind:
        case "object":
            inner, required = schema.get("properties"), schema.get("required")
            members = _schema(inner)
            names = [str(name) for name in required] if isinstance(required, list | tuple) else []
            return {name: smallest_value(_schema(members.get(name))) for name in names}
        case "array":
            least = schema.get("minItems")
            return [smallest_value(_schema(schema.get("items")))] * (least if isinstance(least, int) else 0)
        case "string":
            least = schema.get("minLength")
            return "-" * (least if isinstance(least, int) else 0)
        case "integer" | "number":
            least = schema.get("minimum")
            return least if isinstance(least, int | float) else 0
        case "boolean":
            return False
        case _:
            return None


def _schema(found: Json) -> Mapping[str, Json]:
    return found if isinstance(found, Mapping) else {}
