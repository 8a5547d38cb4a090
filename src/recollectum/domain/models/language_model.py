"""Prompts, turns, tools, replies and token usage: what a language model is asked and what it answers."""

from collections.abc import Mapping
from enum import StrEnum

from recollectum.domain.message import Json, Role, ToolCall
from recollectum.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """Which model answers."""

    provider: str
    model: str
    #: A digest of the endpoint and the account, never a secret; empty for a model on this machine.
    provider_key: str = ""
    #: Whether it is too small to write text that is trusted: it may choose, but not write.
    small: bool = False
    #: How much it reads and writes in one call, if that is little; 0 means no limit.
    window_tokens: int = 0

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model may ask its caller to run."""

    name: str
    description: str
    #: The JSON schema of its arguments.
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the conversation that the model gets."""

    #: User, assistant or tool.
    role: Role
    text: str
    #: The tool calls of the assistant in this turn.
    tool_calls: tuple[ToolCall, ...] = ()
    #: The id of the tool call that this tool turn answers.
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything a model gets for one reply."""

    turns: tuple[Turn, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    #: A JSON schema; if set, the reply is a value that matches it.
    schema: Mapping[str, Json] | None = None
    #: 0 means the value of the settings.
    max_output_tokens: int = 0
    temperature: float = 0.0
    #: An idempotency key, the same for the same request, so that a server does the work once; empty for none.
    idempotency_id: str = ""


class Finish(StrEnum):
    """Why a reply ended."""

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
    #: Whether the tokens are our estimate, because the server gave no count.
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a model."""

    text: str
    usage: Usage
    finish: Finish
    by: ModelIdentity
    tool_calls: tuple[ToolCall, ...] = ()
    #: The value that matches the schema, if the prompt had one.
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a streamed reply; the last one has no text but the whole reply."""

    text: str = ""
    reply: Reply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The highest cost of some prompts."""

    calls: int
    input_tokens: int
    output_tokens: int
    #: In the currency; None when the price is not known.
    money: float | None
    currency: str = ""
