"""Reads plain CSV, JSONL and Markdown, with a mapping that names the fields of a message or a memory."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms.building import EPOCH, Talk, moment, role_of, text_or_none
from recollectum.transfer.forms.memory_lists import memory_of
from recollectum.transfer.jsonl import bounded_lines
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, Progress

AGENT = "plain"
FIELDS = ("text", "role", "time", "id", "conversation", "person", "title")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_MOST_CELL = 16 * 2**20

Row = tuple[str, Mapping[str, Json] | InvalidInput]
RowReader = Callable[[BinaryIO, Progress], Iterator[Row]]


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Raise for a mapping that names no text, or a field that there is not."""
    if unknown := sorted(mapping.keys() - set(FIELDS)):
        raise InvalidInput(f"a mapping has no {unknown[0]!r}; it may name {', '.join(FIELDS)}")
    if not mapping.get("text"):
        raise InvalidInput("the mapping names no text; give it as text=FIELD")


def reader_for(
    path: Path, mapping: Mapping[str, str]
) -> tuple[str, Callable[[BinaryIO, Progress], Iterator[ForeignItem]]]:
    """Return the name of a plain file's form, and its reader; raise for a suffix that is none of the three."""
    forms: dict[str, tuple[str, RowReader]] = {
        ".csv": ("CSV file", _csv_rows),
        ".jsonl": ("JSONL file", _json_rows),
        ".ndjson": ("JSONL file", _json_rows),
        ".md": ("Markdown file", _markdown_rows),
    }
    if path.suffix.casefold() not in forms:
        raise InvalidInput(f"{path} is none of .csv, .jsonl and .md, which a mapping can read")
    name, rows = forms[path.suffix.casefold()]
    check_mapping(mapping)

    def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
        yield from _items(rows(file, progress), mapping, path.name)

    return name, read


def _items(rows: Iterator[Row], mapping: Mapping[str, str], file: str) -> Iterator[ForeignItem]:
    """Yield messages where the mapping names a role, else memories."""
    talks: dict[str, Talk] = {}
    current: Talk | None = None
    for place, row in rows:
        try:
            if isinstance(row, InvalidInput):
                raise row
            fields = {name: row.get(field) for name, field in mapping.items()}
            text = text_or_none(fields.get("text"))
            if text is None:
                raise InvalidInput(f"it has no text in {mapping['text']!r}")
            at = moment(_time(fields.get("time")), f"its {mapping['time']!r}") if fields.get("time") else EPOCH
        except InvalidInput as error:
            yield DamagedPart(place, str(error))
            continue
        talk = _talk(talks, fields, file, at)
        if talk is not current:
            current = talk
            yield talk.begins
        yield from _item(talk, mapping, fields, text, at)


def _item(
    talk: Talk, mapping: Mapping[str, str], fields: Mapping[str, Json], text: str, at: datetime
) -> Iterator[ForeignItem]:
    native = fields.get("id")
    named = str(native) if native not in (None, "") else None
    if "role" in mapping:
        yield talk.say(role_of(fields.get("role")), text, at, named)
    else:
        yield from memory_of(named or "row", text, at)


def _talk(talks: dict[str, Talk], fields: Mapping[str, Json], file: str, at: datetime) -> Talk:
    person = text_or_none(fields.get("person"))
    native = f"{person or ''}\x1f{fields.get('conversation') or file}"
    if native not in talks:
        title = text_or_none(fields.get("title")) or str(fields.get("conversation") or file)
        talks[native] = Talk(AGENT, native, at, title=title, person=person)
    return talks[native]


def _time(value: Json) -> Json:
    """Return a time from a cell, in which a number is a text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _json_rows(file: BinaryIO, progress: Progress) -> Iterator[Row]:
    for number, line in enumerate(bounded_lines(file), start=1):
        progress(len(line))
        if not line.strip():
            continue
        try:
            yield f"line {number}", as_object(parse(line.decode("utf-8-sig" if number == 1 else "utf-8")), "it")
        except InvalidInput as error:
            yield f"line {number}", error
        except UnicodeDecodeError:
            yield f"line {number}", InvalidInput("it is not UTF-8")


def _csv_rows(file: BinaryIO, progress: Progress) -> Iterator[Row]:
    csv.field_size_limit(_MOST_CELL)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
    rows = csv.reader(text)
    try:
        heads = next(rows, list[str]())
        for row in rows:
            progress(len(",".join(row).encode("utf-8", "surrogatepass")) + 1)
            if row:
                yield f"row {rows.line_num}", dict(zip(heads, row, strict=False))
    except csv.Error as error:
        raise InvalidInput(f"it is not CSV: {error}") from None
    finally:
        # The file is not ours to close.
        text.detach()


def _markdown_rows(file: BinaryIO, progress: Progress) -> Iterator[Row]:
    """Yield one row for each section: `heading`, and `section`, the text below it."""
    heading, begins = "", 1
    lines: list[str] = []
    for number, raw in enumerate(bounded_lines(file), start=1):
        progress(len(raw))
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        found = _HEADING.match(line)
        if found:
            yield from _section(heading, lines, begins)
            heading, lines, begins = found[1], [], number
        else:
            lines.append(line)
    yield from _section(heading, lines, begins)


def _section(heading: str, lines: list[str], begins: int) -> Iterator[Row]:
    text = "\n".join(lines).strip()
    if text:
        yield f"line {begins}", {"heading": heading, "section": text}
