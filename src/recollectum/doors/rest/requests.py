"""Defines the fields, headers and bodies of requests, strictly typed."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonValue

from recollectum.domain.agent_state.shell_command import MAX_COMMAND
from recollectum.domain.files.task import MAX_TASK_ID
from recollectum.domain.memory import MAX_CONTENT, MAX_KEY, check_key

#: A text with at least one visible character.
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
    Query(max_length=300, description="The owner of the vault, if the key covers it; default: the key's own vault."),
]
IdPath = Annotated[str, Path(min_length=1, max_length=80)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="Requests with the same key and body are done once; for a day they get the same answer.",
    ),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match", max_length=1000, pattern=r"^[ -~]*$", description="Only if the resource still has this ETag."
    ),
]
_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


class Body(BaseModel):
    """A body that takes only the declared fields, strictly typed."""

    model_config = ConfigDict(extra="forbid", strict=True)


def to_whole_number(given: object) -> object:
    """Return an integral number as an integer; anything else unchanged."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def check_time(text: str) -> str:
    """Return the text; raise unless it is an RFC 3339 time with a zone."""
    parse_time(text)
    return text


def parse_time(text: str) -> datetime:
    """Parse a time, in UTC."""
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError("not a time with a zone")
    # We store six digits, and Python 3.11 parses no more.
    fraction = (found[7] or "")[:7]
    day_and_time = text[:10] + "T" + text[11:19] + fraction
    zone = "+00:00" if found[8] in "Zz" else found[8]
    try:
        return datetime.fromisoformat(day_and_time + zone).astimezone(UTC)
    except OverflowError:
        raise ValueError("that time is after the last date of the calendar") from None


def parse_optional_time(text: str | None) -> datetime | None:
    """Parse the time, if one was given."""
    return None if text is None else parse_time(text)


#: After the bounds, which are for the number: JSON has one number type, and 5.0 is 5.
WHOLE = BeforeValidator(to_whole_number)
Time = Annotated[str, AfterValidator(check_time), Field(json_schema_extra={"format": "date-time"})]
_KEY = r"^(?!system_|internal_)[a-z][a-z0-9_]*$"
_MOST_MINUTES = 60 * 24 * 366 * 100
_MOST_TOKENS = 10_000_000
# The pattern is for readers of the schema: the validator's own engine has no look-ahead.
MemoryKey = Annotated[str, AfterValidator(check_key), Field(max_length=MAX_KEY, json_schema_extra={"pattern": _KEY})]
PlaceName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._-]+$")]
Id = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[a-z]+_[0-9a-z]+$")]


def _example(**values: JsonValue) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{**values}]})


#: A name, an id or an absolute path.
ProjectText = Annotated[str, Field(min_length=1, max_length=4096, pattern="^(/[^\\x00]*|[a-z0-9][a-z0-9-]*)$")]


class AddMemory(Body):
    """The memory to save."""

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
    project: ProjectText | None = None


class EditMemory(Body):
    """The changes of a memory; missing fields stay."""

    model_config = _example(content="Ada drinks green tea in the morning.")

    content: Text | None = None
    importance: Importance | None = None
    kind: KindName | None = None


class MoveMemory(Body):
    """Whether a memory is active or archived."""

    model_config = _example(state="archived")

    state: Literal["active", "archived"]


class QueryMemories(Body):
    """What to search for, and where."""

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
    min_score: Annotated[float, Field(ge=0, le=1)] | None = None
    answers_only: bool = False
    project: ProjectText | None = None
    prefer_project: ProjectText | None = None
    personal: bool = False


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
    project: ProjectText | None = None


class EndSession(Body):
    """Ends a conversation."""

    ended: Literal[True]


class AddMessage(Body):
    """One message."""

    model_config = _example(role="user", content="Good morning! A pot of oolong, please.")

    role: Literal["system", "user", "assistant", "tool", "info", "warning", "error"]
    content: Annotated[str, Field(max_length=10_000_000)]
    native_id: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    speaker: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    at: Time | None = None
    # One wrong call is enough to know: each could have as many mistakes as fields.
    tool_calls: Annotated[list["AddCall"], Field(max_length=1000, default_factory=list, fail_fast=True)]


class AddCall(Body):
    """One tool call."""

    id: Annotated[str, Field(min_length=1, max_length=256)]
    name: Annotated[str, Field(min_length=1, max_length=256)]
    args: dict[str, Any] = Field(default_factory=dict)
    result: Any = None
    status: Literal["pending", "approved", "denied", "complete", "failed"] = "pending"


class BuildContext(Body):
    """The parameters of a context."""

    model_config = _example(query="breakfast", tokens=2000)

    query: Annotated[str, Field(max_length=100_000)] = ""
    session_id: Id | None = None
    tokens: Annotated[int, Field(ge=100, le=_MOST_TOKENS), WHOLE] | None = None
    messages: Annotated[int, Field(ge=0, le=10_000), WHOLE] | None = None
    memories: Annotated[int, Field(ge=0, le=1000), WHOLE] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    agent: Name | None = None
    project: ProjectText | None = None
    all_projects: bool = False


class AddLearning(Body):
    """A learning about working with the person."""

    model_config = _example(text="Answers should be short.", category="preference")

    text: Annotated[Text, Field(max_length=10_000)]
    category: Category
    agent: Name | None = None
    shared: bool = False


class AddCommand(Body):
    """A command that a shell ran."""

    model_config = _example(command="git status")

    command: Annotated[Text, Field(max_length=MAX_COMMAND)]
    project: Annotated[str, Field(max_length=64, pattern="^([0-9a-f]{64})?$")] = ""


class SaveState(Body):
    """A value that a user interface keeps."""

    model_config = _example(key="theme", value="dark")

    key: Annotated[str, Field(min_length=1, max_length=128, pattern="^[A-Za-z][A-Za-z0-9_.-]*$")]
    value: Any
    interface: Annotated[str, Field(min_length=1, max_length=128, pattern="^[A-Za-z0-9._-]+$")] = "main"


class SaveTask(Body):
    """The data of an agent server's task."""

    model_config = _example(id="t-17", data={"state": "working"}, version=0)

    id: Annotated[str, Field(min_length=1, max_length=MAX_TASK_ID)]
    #: Without data, those that the task has stay.
    data: dict[str, Any] | None = None
    #: Refuse when the task has another version; 0 is that of a task that does not exist.
    version: Annotated[int | None, Field(ge=0)] = None


class NameAccount(Body):
    """An account at a service."""

    model_config = _example(service="google", account="ada@example.com")

    service: Annotated[str, Field(min_length=1, max_length=128)]
    account: Annotated[str, Field(min_length=1, max_length=256)]


class Approve(Body):
    """Another text for the proposal, if it should be saved with that."""

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
    """How long the old key stays valid."""

    model_config = _example(grace_minutes=10)

    grace_minutes: Annotated[int, Field(ge=0, le=129_600), WHOLE] = 0
