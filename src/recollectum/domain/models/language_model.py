"""Prompts, turns, tools, replies and token usage: what a language model is asked and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from recollectum.domain.message import Json, Role, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """Which model answers."""

    provider: str
    model: str
    #: A digest of the endpoint and the account, never a secret; empty for a model on this machine.
    provider_key: str = ""
    #: Whether it is too small to be trusted with words of its own: it may choose, and not write.
    small: bool = False
    #: How much it reads and writes in one call, where that is little; 0 is enough for anything.
    window_tokens: int = 0

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the model may ask its caller to do."""

    name: str
    description: str
    #: What its arguments are, as a JSON schema.
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One contribution to the conversation that the model is shown."""

    #: User, assistant or tool.
    role: Role
    text: str
    #: What the assistant asked for in this turn.
    tool_calls: tuple[ToolCall, ...] = ()
    #: The id of the tool call that a turn of a tool is the result of.
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything a model is given for one reply."""

    turns: tuple[Turn, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    #: A JSON schema; where there is one, the reply is a value that fits it.
    schema: Mapping[str, Json] | None = None
    #: 0 leaves it to the settings.
    max_output_tokens: int = 0
    temperature: float = 0.0
    #: The same for the same question, so that a server that knows it does not do the work twice; empty is none.
    idempotency_id: str = ""


class Finish(StrEnum):
    """Why a reply ends where it does."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    FILTERED = "filtered"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of one call."""

    input: int
    output: int
    #: Whether we counted, because the server did not say.
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    usage: Usage
    finish: Finish
    by: ModelIdentity
    tool_calls: tuple[ToolCall, ...] = ()
    #: What fits the schema, where the prompt had one.
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a reply as it comes in; the last one has no text and the whole reply."""

    text: str = ""
    reply: Reply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What some prompts will cost at most."""

    calls: int
    input_tokens: int
    output_tokens: int
    #: In the currency; None where the price is not known.
    money: float | None
    currency: str = ""
