"""Bodies: what requests are made of."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from recollectum.domain.memory import MAX_KEY, check_key
from recollectum.doors.rest.fields import WHOLE, Body, Category, Importance, KindName, Name, Text, Time

_KEY = r"^(?!system_|internal_)[a-z][a-z0-9_]*$"
_MOST_MINUTES = 60 * 24 * 366 * 100
_MOST_TOKENS = 10_000_000
# The pattern is for readers of the schema: the validator's own engine has no look-ahead.
MemoryKey = Annotated[str, AfterValidator(check_key), Field(max_length=MAX_KEY, json_schema_extra={"pattern": _KEY})]
Place = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._-]+$")]
Id = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[a-z]+_[0-9a-z]+$")]


def _example(**values: str | int) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{**values}]})


class AddMemory(Body):
    """What to remember."""

    model_config = _example(content="Ada drinks oolong tea in the morning.", key="tea", kind="preference")

    content: Text
    key: MemoryKey | None = None
    kind: KindName = "fact"
    importance: Importance = 0.5
    ttl_minutes: Annotated[int, Field(ge=1, le=_MOST_MINUTES), WHOLE] | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    message_id: Id | None = None
    agent: Name | None = None


class EditMemory(Body):
    """What to change; what is left out stays."""

    model_config = _example(content="Ada drinks green tea in the morning.")

    content: Text | None = None
    importance: Importance | None = None
    kind: KindName | None = None


class Query(Body):
    """What to look for, and where."""

    model_config = _example(query="what does Ada drink", limit=5)

    query: Annotated[str, Field(max_length=100_000)]
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] | None = None
    tokens: Annotated[int, Field(ge=1, le=_MOST_TOKENS), WHOLE] | None = None
    source: Literal["memories", "sessions", "notes"] | None = None
    session_id: Id | None = None
    kind: KindName | None = None
    speaker: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    agent: Name | None = None
    channel: Place | None = None
    trust: Literal["owner", "assistant", "tool", "imported", "unknown"] | None = None
    untrusted: bool | None = None
    since: Time | None = None
    until: Time | None = None


class Confirm(Body):
    """The token of a preview."""

    confirm: Annotated[str, Field(min_length=1, max_length=4000)]


class OpenSession(Body):
    """Where a conversation takes place."""

    model_config = _example(channel="telegram", agent="main")

    channel: Place = "main"
    agent: Name = "main"
    group: Place | None = None
    topic: Place | None = None


class AddMessage(Body):
    """One message, as it was said."""

    model_config = _example(role="user", content="Good morning! A pot of oolong, please.")

    role: Literal["system", "user", "assistant", "tool", "info", "warning", "error"]
    content: Annotated[str, Field(max_length=10_000_000)]
    native_id: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    speaker: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    at: Time | None = None
    tool_calls: Annotated[list["AddCall"], Field(max_length=1000, default_factory=list)]


class AddCall(Body):
    """One use of a tool."""

    id: Annotated[str, Field(min_length=1, max_length=256)]
    name: Annotated[str, Field(min_length=1, max_length=256)]
    args: dict[str, Any] = Field(default_factory=dict)
    result: Any = None
    status: Literal["pending", "approved", "denied", "complete", "failed"] = "pending"


class BuildContext(Body):
    """What a model is to see, and how much of it."""

    model_config = _example(query="breakfast", tokens=2000)

    query: Annotated[str, Field(max_length=100_000)] = ""
    session_id: Id | None = None
    tokens: Annotated[int, Field(ge=100, le=_MOST_TOKENS), WHOLE] | None = None
    messages: Annotated[int, Field(ge=0, le=10_000), WHOLE] | None = None
    memories: Annotated[int, Field(ge=0, le=1000), WHOLE] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    agent: Name | None = None


class AddLearning(Body):
    """What was learned of how to work with the person."""

    model_config = _example(text="Answers should be short.", category="preference")

    text: Annotated[Text, Field(max_length=10_000)]
    category: Category
    agent: Name | None = None
    shared: bool = False


class Approve(Body):
    """Other words for what is proposed, when it is to be kept in those."""

    model_config = _example(content="Ada drinks oolong tea.")

    content: Text | None = None


class MakeKey(Body):
    """What a new key may do, for whom, and in whose vaults."""

    model_config = _example(person="user:alice")

    person: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    scopes: Annotated[list[Literal["read", "write", "admin"]], Field(min_length=1, max_length=3)] = Field(
        default_factory=lambda: ["read", "write"]
    )
    owners: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=100)] = Field(default_factory=list)


class RotateKey(Body):
    """How long the old key lives beside the new one."""

    model_config = _example(grace_minutes=10)

    grace_minutes: Annotated[int, Field(ge=0, le=129_600), WHOLE] = 0
