"""Defines the fields, headers and bodies of requests, strictly typed."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from recollectum.domain.memory import MAX_CONTENT, MAX_KEY, check_key

#: A text with at least one character that is seen.
Text = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT, pattern=r"[^\s\x00-\x20\x7f-\xa0]")]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_-]*$")]
KindName = Literal["fact", "preference", "correction", "pattern", "tool_usage", "project", "task"]
Category = Literal["preference", "correction", "pattern", "tool_usage"]
StateName = Literal["active", "archived", "soft_deleted"]
Importance = Annotated[float, Field(ge=0, le=1)]
#: An agent's name in a query.
AGENT: dict[str, Any] = {"min_length": 1, "max_length": 64, "pattern": r"^[a-z][a-z0-9_-]*$"}
OwnerQuery = Annotated[
    str | None,
    Query(max_length=300, description="Another owner's vault, where the key was made for it; else the key's own."),
]
IdPath = Annotated[str, Path(min_length=1, max_length=80)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="The same key with the same body is done once and answered again for a day.",
    ),
]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=1000, pattern=r"^[ -~]*$", description="Only if the ETag is still this one."),
]
_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


class Body(BaseModel):
    """A body takes what it names and nothing else, each value in its own type."""

    model_config = ConfigDict(extra="forbid", strict=True)


def to_whole_number(given: object) -> object:
    """A number that is whole, as one; anything else as it came."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def check_time(text: str) -> str:
    """The text, when it is a time with a zone, as RFC 3339 writes it."""
    parse_time(text)
    return text


def parse_time(text: str) -> datetime:
    """The time that a text says, in UTC."""
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError("not a time with a zone")
    # Six digits are what we keep, and all that Python 3.11 takes.
    fraction = (found[7] or "")[:7]
    day_and_time = text[:10] + "T" + text[11:19] + fraction
    zone = "+00:00" if found[8] in "Zz" else found[8]
    try:
        return datetime.fromisoformat(day_and_time + zone).astimezone(UTC)
    except OverflowError:
        raise ValueError("that time is past the calendar's end") from None


def parse_optional_time(text: str | None) -> datetime | None:
    """The time, where one was given."""
    return None if text is None else parse_time(text)


#: After the bounds, which are for the number: JSON knows one kind of it, and 5.0 is 5.
WHOLE = BeforeValidator(to_whole_number)
Time = Annotated[str, AfterValidator(check_time), Field(json_schema_extra={"format": "date-time"})]
_KEY = r"^(?!system_|internal_)[a-z][a-z0-9_]*$"
_MOST_MINUTES = 60 * 24 * 366 * 100
_MOST_TOKENS = 10_000_000
# The pattern is for readers of the schema: the validator's own engine has no look-ahead.
MemoryKey = Annotated[str, AfterValidator(check_key), Field(max_length=MAX_KEY, json_schema_extra={"pattern": _KEY})]
PlaceName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._-]+$")]
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


class MoveMemory(Body):
    """Whether a memory is in use or in the archive."""

    model_config = _example(state="archived")

    state: Literal["active", "archived"]


class QueryMemories(Body):
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
    channel: PlaceName | None = None
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

    channel: PlaceName = "main"
    agent: Name = "main"
    group: PlaceName | None = None
    topic: PlaceName | None = None


class EndSession(Body):
    """That a conversation has ended."""

    ended: Literal[True]


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
