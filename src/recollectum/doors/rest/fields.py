"""Fields: the types of which requests are made, as strict as the schema says they are."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from recollectum.domain.memory import MAX_CONTENT

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


def whole(given: object) -> object:
    """A number that is whole, as one; anything else as it came."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def to_time(text: str) -> str:
    """The text, when it is a time with a zone, as RFC 3339 writes it."""
    when(text)
    return text


def when(text: str) -> datetime:
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


def when_or_none(text: str | None) -> datetime | None:
    """The time, where one was given."""
    return None if text is None else when(text)


#: After the bounds, which are for the number: JSON knows one kind of it, and 5.0 is 5.
WHOLE = BeforeValidator(whole)
Time = Annotated[str, AfterValidator(to_time), Field(json_schema_extra={"format": "date-time"})]
