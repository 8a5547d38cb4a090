"""Defines the fields and bodies of mem0's requests; an option without an effect here is refused with the reason."""

import ast
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, cast

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from recollectum.adapters.mem0.filters import SCOPES
from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import MAX_CONTENT

_MOST = 1000
_EntityId = Annotated[str, Field(min_length=1, max_length=256)] | Annotated[int, Field(ge=0)]
Filters = dict[str, Any]
MemoryId = Annotated[str, Path(min_length=1, max_length=400, description="As an answer gave it: `mem_…@user:ada`.")]
ScopeQuery = Annotated[str | None, Query(min_length=1, max_length=256)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(ge=1, le=_MOST)]
#: What a text says that is to be stored: not empty.
_Text = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]
_Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", json_schema_extra={"format": "date"})]
_Moment = Annotated[str, Field(min_length=10, max_length=40)]

#: Options of mem0 that change nothing here, or that would need what is not here; by name, with the reason.
REFUSED_OPTIONS: Mapping[str, str] = {
    "custom_categories": "memories have no categories here",
    "categories": "memories have no categories here",
    "custom_instructions": "consolidation has its own instructions",
    "agent_custom_instructions": "consolidation has its own instructions",
    "structured_data_schema": "no structured data is extracted",
    "timestamp": "a memory has the time at which it was added",
    "rerank": "the setting `recall.rerank` chooses a reranker for every search",
    "show_expired": "an expired memory is gone",
    "reference_date": "a time in the query is read from the clock of the server",
}


class _Body(BaseModel):
    # As mem0's own service: a client of another version may send fields that are not known here yet, but they are
    # refused rather than ignored.
    model_config = ConfigDict(extra="forbid", strict=True)

    def check_options(self) -> None:
        """Raise for an option that is given and not offered."""
        for name, reason in REFUSED_OPTIONS.items():
            if getattr(self, name, None):
                raise InvalidInput(f"the option {name} is not offered: {reason}; leave it out")


class Mem0Message(BaseModel):
    """One message."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Annotated[str, Field(min_length=1, max_length=64)]
    content: _Text
    name: Annotated[str, Field(min_length=1, max_length=256)] | None = None


class Mem0Add(_Body):
    """Messages to remember, and whose they are."""

    messages: Annotated[list[Mem0Message], Field(min_length=1, max_length=_MOST, fail_fast=True)]
    user_id: _EntityId | None = None
    agent_id: _EntityId | None = None
    app_id: _EntityId | None = None
    run_id: _EntityId | None = None
    filters: Filters | None = None
    metadata: dict[str, Any] | None = None
    infer: bool = True
    expiration_date: _Day | None = None
    custom_categories: list[dict[str, Any]] | None = None
    custom_instructions: str | None = None
    agent_custom_instructions: str | None = None
    structured_data_schema: dict[str, Any] | None = None
    timestamp: int | None = None
    async_mode: bool | None = None
    version: str | None = None
    output_format: str | None = None

    def scope(self) -> dict[str, str]:
        """Return the ids, of the body itself and of its filters."""
        given = {**(self.filters or {}), **{name: getattr(self, name) for name in SCOPES}}
        unknown = sorted(set(given) - set(SCOPES))
        if unknown:
            raise InvalidInput(f"the filters of a new memory are its ids: {', '.join(SCOPES)}; leave others out")
        named = {name: getattr(self, name) or (self.filters or {}).get(name) for name in SCOPES}
        return {name: str(value) for name, value in named.items() if value is not None}


class Mem0Search(_Body):
    """What to search for, and in whose memories."""

    query: Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"\S")]
    filters: Filters
    top_k: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    fields: list[str] | None = None
    rerank: bool | None = None
    categories: list[str] | None = None
    show_expired: bool | None = None
    reference_date: str | int | None = None
    latest_only: bool | None = None
    keyword_search: bool | None = None
    metadata: dict[str, Any] | None = None
    version: str | None = None
    output_format: str | None = None


class Mem0List(_Body):
    """Which memories to list."""

    filters: Filters
    start_date: _Moment | None = None
    end_date: _Moment | None = None
    categories: list[str] | None = None
    show_expired: bool | None = None
    latest_only: bool | None = None
    fields: list[str] | None = None
    version: str | None = None
    output_format: str | None = None


class Mem0Update(_Body):
    """What to change of a memory."""

    text: _Text | None = None
    metadata: dict[str, Any] | None = None
    expiration_date: _Day | None = None
    timestamp: int | float | str | None = None


class Mem0Change(BaseModel):
    """A memory of a batch, and what to change of it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    memory_id: Annotated[str, Field(min_length=1, max_length=400)]
    text: _Text | None = None
    metadata: dict[str, Any] | None = None


class Mem0Changes(_Body):
    """The memories of a batch."""

    memories: Annotated[list[Mem0Change], Field(min_length=1, max_length=_MOST, fail_fast=True)]


class Mem0Doomed(BaseModel):
    """A memory of a batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    memory_id: Annotated[str, Field(min_length=1, max_length=400)]


class Mem0Deletion(_Body):
    """The memories of a batch."""

    memories: Annotated[list[Mem0Doomed], Field(min_length=1, max_length=_MOST, fail_fast=True)]


def parse_moment(name: str, text: str | None) -> str | None:
    """Return a day or a time as mem0 writes times, to be compared; raise for anything else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{name} is not a date or time in ISO 8601; write 2026-01-31") from None
    return date.isoformat(found.date()) if len(text) == len("2026-01-31") else found.isoformat()


def parse_scope_filters(text: str | None) -> dict[str, str]:
    """Return the ids in `filters` of a query: mem0's client writes a dictionary there as Python does."""
    if text is None:
        return {}
    try:
        found: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, dict) or not set(cast("dict[object, object]", found)) <= set(SCOPES):
        raise InvalidInput(f"filters in a query are ids: {', '.join(SCOPES)}; give them by these names")
    return {name: str(value) for name, value in cast("dict[str, object]", found).items()}
