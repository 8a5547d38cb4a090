"""Loads a labelled set: units that were said and queries with their gold answers, as JSON lines."""

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.records import dataclass

#: Time formats of two well-known sets of conversations that `fromisoformat` does not parse.
_FORMS = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M")


def parse_set_time(value: object) -> datetime | None:
    """Return the time in a field, in UTC if it has no zone; None when it is no time."""
    if not isinstance(value, str):
        return None
    found = _iso(value) or next((time for form in _FORMS if (time := _known_format(value, form))), None)
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _known_format(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - the caller gives it a zone
    except ValueError:
        return None


#: These questions have no answer, so recall cannot be measured by them.
_SILENT = ("abstention", "adversarial")
_SILENT_ENDING = "_abs"
_ALWAYS = -math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledUnit:
    """One thing that was said or written."""

    space: str
    id: str
    session: str
    speaker: str | None
    text: str
    at: datetime | None
    #: The position of its session in the order of sessions, if the set gives it.
    session_number: float = _ALWAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuery:
    """One question, and the units and sessions that answer it."""

    space: str
    id: str
    category: str
    text: str
    gold: frozenset[str]
    gold_sessions: frozenset[str]
    asked_at: datetime | None
    #: Only sessions before this one have happened when the question is asked.
    before_session: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """Everything of one set that can be scored."""

    name: str
    units: tuple[LabelledUnit, ...]
    queries: tuple[LabelledQuery, ...]


def load_set(folder: Path, limit: int | None = None) -> LabelledSet:
    """Load a set; with a limit, only its first queries and the spaces they ask about."""
    queries = [query for line in _lines(folder, "queries.jsonl") if (query := _query(line))][:limit]
    if not queries:
        raise InvalidInput(f"no query in {folder} can be scored; each needs gold or gold_sessions")
    spaces = {query.space for query in queries}
    units = tuple(unit for line in _lines(folder, "units.jsonl") if (unit := _unit(line)).space in spaces)
    return LabelledSet(name=folder.absolute().name, units=units, queries=tuple(queries))


def load_unanswered(folder: Path) -> list[LabelledQuery]:
    """Load the queries that no unit of the set answers."""
    return [_labelled(line) for line in _lines(folder, "queries.jsonl") if _is_unanswered(line)]


@dataclass(frozen=True, slots=True)
class _Line:
    """One JSON object and the line it was read from."""

    place: str
    fields: Mapping[str, object]

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str | int):
            raise InvalidInput(f"{self.place} has no {name!r}; give it a text")
        return str(value)

    def texts(self, name: str) -> frozenset[str]:
        value: object = self.fields.get(name) or []
        if not isinstance(value, list):
            raise InvalidInput(f"{self.place} has a {name!r} that is not a list; give a list of ids")
        return frozenset(map(str, cast("list[object]", value)))

    def number(self, name: str, otherwise: float) -> float:
        value = self.fields.get(name)
        return value if isinstance(value, int | float) else otherwise


def _unit(line: _Line) -> LabelledUnit:
    speaker = line.fields.get("speaker")
    return LabelledUnit(
        space=line.text("ns"),
        id=line.text("id"),
        session=line.text("session"),
        speaker=str(speaker) if speaker else None,
        text=line.text("text"),
        at=parse_set_time(line.fields.get("ts")) or parse_set_time(line.fields.get("time")),
        session_number=line.number("session_no", _ALWAYS),
    )


def _query(line: _Line) -> LabelledQuery | None:
    """Return the query; None when it has no gold, or when no answer is right."""
    query = _labelled(line)
    return None if _is_unanswered(line) or not (query.gold or query.gold_sessions) else query


def _is_unanswered(line: _Line) -> bool:
    category = str(line.fields.get("category") or "")
    return category in _SILENT or category.endswith(_SILENT_ENDING)


def _labelled(line: _Line) -> LabelledQuery:
    return LabelledQuery(
        space=line.text("ns"),
        id=line.text("id"),
        category=str(line.fields.get("category") or ""),
        text=line.text("text"),
        gold=line.texts("gold_audited") or line.texts("gold"),
        gold_sessions=line.texts("gold_sessions"),
        asked_at=parse_set_time(line.fields.get("question_date")),
        before_session=line.number("before_session", math.inf),
    )


def _lines(folder: Path, name: str) -> Iterator[_Line]:
    plain, packed = folder / name, folder / f"{name}.gz"
    path = packed if packed.exists() else plain
    if not path.exists():
        raise NotFound(f"there is no {name} in {folder}; give a folder with units.jsonl and queries.jsonl")
    with gzip.open(path, "rb") if path == packed else path.open("rb") as file:
        try:
            for number, data in enumerate(file, start=1):
                yield _Line(f"{path.name} line {number}", _object(data, path, number))
        except EOFError:
            raise InvalidInput(f"{path} ends too early; fetch it again") from None


def _object(data: bytes, path: Path, number: int) -> Mapping[str, object]:
    try:
        value: object = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(f"{path.name} line {number} is not a JSON object; write one object to the line")
    return cast("dict[str, object]", value)
