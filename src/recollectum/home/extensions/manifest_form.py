"""Checks the values of a manifest by their kinds, and describes the same kinds as a JSON Schema."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import cast

from recollectum.domain.message import Json
from recollectum.domain.records import dataclass

_LONGEST_SHOWN = 60


class ValueKind(ABC):
    """A kind of value."""

    @abstractmethod
    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence for each thing that is wrong with a value, which is at a place such as `settings.0.name`."""

    @abstractmethod
    def schema(self) -> dict[str, Json]:
        """Return the kind as a JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(ValueKind):
    """A text of some form."""

    #: What the form is, in words; follows "it must be".
    wanted: str = "a text"
    #: What the whole text matches; the same in Python and in a JSON Schema.
    pattern: str = ""
    longest: int = 2000

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence when it is no text, too long, or of another form."""
        if not isinstance(value, str):
            yield wrong(place, value, self.wanted)
        elif len(value) > self.longest:
            yield f"{place} has {len(value):,} characters; it may have at most {self.longest:,}"
        elif self.pattern and not re.fullmatch(self.pattern, value):
            yield wrong(place, value, self.wanted)

    def schema(self) -> dict[str, Json]:
        """Return the text with its pattern and length."""
        made: dict[str, Json] = {"type": "string", "maxLength": self.longest}
        return {**made, "pattern": f"^(?:{self.pattern})$"} if self.pattern else made


@dataclass(frozen=True, slots=True)
class Flag(ValueKind):
    """True or false."""

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence when it is neither."""
        if not isinstance(value, bool):
            yield wrong(place, value, "true or false")

    def schema(self) -> dict[str, Json]:
        """Return the kind."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(ValueKind):
    """A whole number of a range."""

    least: int
    most: int

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence when it is no whole number of the range."""
        # JSON has one kind of number: 1.0 is a whole one.
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(whole, bool) or not isinstance(whole, int) or not self.least <= whole <= self.most:
            wanted = str(self.least) if self.least == self.most else f"a whole number from {self.least} to {self.most}"
            yield wrong(place, value, wanted)

    def schema(self) -> dict[str, Json]:
        """Return the range."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf(ValueKind):
    """A list of values of one kind; where `single` is set, one value may be written without the list."""

    item: ValueKind
    most: int = 200
    single: bool = False

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence for each wrong item."""
        if self.single and not isinstance(value, list):
            yield from self.item.problems(value, place)
        elif not isinstance(value, list):
            yield wrong(place, value, "a list")
        elif len(items := cast("list[object]", value)) > self.most:
            yield f"{place} has {len(items):,} items; it may have at most {self.most:,}"
        else:
            for number, item in enumerate(items):
                yield from self.item.problems(item, f"{place}.{number}")

    def schema(self) -> dict[str, Json]:
        """Return the list, or either form."""
        listed: dict[str, Json] = {"type": "array", "items": self.item.schema(), "maxItems": self.most}
        return {"anyOf": [self.item.schema(), listed]} if self.single else listed


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf(ValueKind):
    """An object whose names are free, with values of one kind."""

    names: Text
    item: ValueKind
    most: int = 100

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence for each wrong name and each wrong value."""
        if not isinstance(value, dict):
            yield wrong(place, value, "an object")
            return
        inner = cast("dict[str, object]", value)
        if len(inner) > self.most:
            yield f"{place} has {len(inner):,} entries; it may have at most {self.most:,}"
            return
        for name, item in inner.items():
            yield from self.names.problems(name, f"a name in {place}")
            yield from self.item.problems(item, f"{place}.{shortened(name)}")

    def schema(self) -> dict[str, Json]:
        """Return the object with the form of its names."""
        return {
            "type": "object",
            "propertyNames": self.names.schema(),
            "additionalProperties": self.item.schema(),
            "maxProperties": self.most,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A field of a record."""

    kind: ValueKind
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(ValueKind):
    """An object with known fields."""

    members: Mapping[str, Member]
    #: Sentences for fields that are refused for a reason.
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Of these fields exactly one is there.
    one_of: tuple[str, ...] = ()

    def problems(self, value: object, place: str) -> Iterator[str]:
        """Yield a sentence for each field that is missing, wrong or unknown."""
        if not isinstance(value, dict):
            yield wrong(place or "the manifest", value, "an object")
            return
        inner = cast("dict[str, object]", value)
        before = f"{place}." if place else ""
        for name, member in self.members.items():
            if name in inner:
                yield from member.kind.problems(inner[name], f"{before}{name}")
            elif member.required:
                yield f"{before}{name} is missing; add it: {member.doc[:1].lower()}{member.doc[1:]}"
        yield from self._unknown(inner, before)
        given = [name for name in self.one_of if name in inner]
        if self.one_of and len(given) != 1:
            found = " and ".join(given) or "none of them"
            yield f"{place} has {found}; give exactly one of {', '.join(self.one_of)}"

    def _unknown(self, inner: Mapping[str, object], before: str) -> Iterator[str]:
        for name in inner:
            if name in self.refused:
                yield f"{before}{name} {self.refused[name]}"
            elif name not in self.members:
                yield f"{before}{shortened(name)} is not known; use {', '.join(self.members)}, or leave it out"

    def schema(self) -> dict[str, Json]:
        """Return the object with its fields."""
        made: dict[str, Json] = {
            "type": "object",
            "properties": {
                name: {"description": member.doc, **member.kind.schema()} for name, member in self.members.items()
            },
            "additionalProperties": False,
        }
        if required := [name for name, member in self.members.items() if member.required]:
            made["required"] = cast("list[Json]", required)
        if self.one_of:
            made["oneOf"] = [{"required": [name]} for name in self.one_of]
        return made


def wrong(place: str, value: object, wanted: str) -> str:
    """Return the sentence about a value of the wrong kind."""
    return f"{place} is {shown(value)}; it must be {wanted}"


def shown(value: object) -> str:
    """Return a value for a sentence, on one line and not too long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return shortened(repr(value))


def shortened(text: str) -> str:
    """Return a text of the manifest for a sentence, without what could act on a terminal."""
    plain = "".join(one if one.isprintable() else "?" for one in text[: _LONGEST_SHOWN + 1])
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"
