"""Edits JSON with comments in place: parses every value with its position, and leaves the rest of the text alone."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Literal, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_UNIT = re.compile(r"\n([ \t]+)\S")
_USUAL_UNIT = "  "
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value and its position, from its first character to after its last."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: object
    members: "tuple[JsonMember, ...]" = ()


@dataclass(frozen=True, slots=True)
class JsonMember:
    """One entry of an object, or one item of an array, which has no name."""

    start: int
    node: JsonNode
    name: str | None = None


def read(text: str) -> JsonNode:
    """Parse the document; an empty text is an empty object."""
    if _BLANK.fullmatch(text):
        return JsonNode("object", len(text), len(text), {})
    node = _value(text, _skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise _fault(text, node.end, "something follows the end")
    return node


def find(node: JsonNode, path: Sequence[str]) -> JsonNode | None:
    """Return the value at a path of names; None when there is none."""
    for name in path:
        inner = next((one.node for one in node.members if node.kind == "object" and one.name == name), None)
        if inner is None:
            return None
        node = inner
    return node


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a value at a path of names, in its old position or at the end of its object."""
    text = f"{text}{{}}\n" if _BLANK.fullmatch(text) else text
    found = find(read(text), path)
    if found is not None:
        same = found.value == value
        return text if same else text[: found.start] + _dumped(text, value, len(path)) + text[found.end :]
    parent = find(read(text), path[:-1])
    if parent is None:
        text = with_value(text, path[:-1], {})
        parent = find(read(text), path[:-1])
    if parent is None or parent.kind != "object":
        raise InvalidInput(f"{'.'.join(path[:-1])} is not an object")
    return _added(text, parent, f"{json.dumps(path[-1])}: {_dumped(text, value, len(path))}", len(path))


def with_item(text: str, path: Sequence[str], item: object) -> str:
    """Return the text with an item appended to an array, which is created if it is missing."""
    text = f"{text}{{}}\n" if _BLANK.fullmatch(text) else text
    found = find(read(text), path)
    if found is None:
        return with_value(text, path, [item])
    if found.kind != "array":
        raise InvalidInput(f"{'.'.join(path)} is not a list")
    depth = len(path) + 1
    return _added(text, found, _dumped(text, item, depth), depth)


def without(text: str, path: Sequence[str]) -> str:
    """Return the text without a value, and without the objects that held nothing else."""
    parent = find(read(text), path[:-1])
    at = next((i for i, one in enumerate(parent.members) if one.name == path[-1]), None) if parent else None
    if parent is None or at is None:
        return text
    return _without_empty(_taken_out(text, parent, at), path[:-1])


def without_items(text: str, path: Sequence[str], unwanted: Callable[[object], bool]) -> str:
    """Return the text without some items of an array, and without the array if it held nothing else."""
    while (found := find(read(text), path)) is not None and found.kind == "array":
        at = next((i for i, one in enumerate(found.members) if unwanted(one.node.value)), None)
        if at is None:
            return text
        text = _taken_out(text, found, at)
        if not find_members(text, path):
            return _without_empty(text, path)
    return text


def find_members(text: str, path: Sequence[str]) -> tuple[JsonMember, ...]:
    """Return the members of an object or array."""
    found = find(read(text), path)
    return found.members if found else ()


def _without_empty(text: str, path: Sequence[str]) -> str:
    found = find(read(text), path) if path else None
    if found is None or found.members or text[found.start + 1 : found.end - 1].strip():
        return text
    return without(text, path)


def _added(text: str, parent: JsonNode, entry: str, depth: int) -> str:
    unit = _unit(text)
    last_mark = len(text[: parent.end - 1].rstrip())
    head, rest = text[:last_mark], text[last_mark:]
    trailing = False
    if parent.members:
        end = parent.members[-1].node.end
        trailing = _comma_after(text, end) is not None
        head = head[:end] + ("" if trailing else ",") + head[end:]
    closing = "" if "\n" in rest[: parent.end - 1 - last_mark] else "\n" + unit * (depth - 1)
    return f"{head}\n{unit * depth}{entry}{',' if trailing else ''}{closing}{rest}"


def _taken_out(text: str, parent: JsonNode, at: int) -> str:
    one = parent.members[at]
    left = len(text[: one.start].rstrip())
    comma = _comma_after(text, one.node.end)
    if comma is not None:
        # Up to the next entry's own line, so that a comment beside an entry stays with it.
        return text[:left] + text[comma + 1 :]
    if at == 0:
        after = text[one.node.end :]
        return text[:left] + (after.lstrip() if not text[one.node.end : parent.end - 1].strip() else after)
    before = _comma_after(text, parent.members[at - 1].node.end)
    gap = text[:left] if before is None else text[:before] + text[before + 1 : left]
    return gap + text[one.node.end :]


def _comma_after(text: str, end: int) -> int | None:
    at = _skip(text, end)
    return at if text[at : at + 1] == "," else None


def _dumped(text: str, value: object, depth: int) -> str:
    unit = _unit(text)
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + unit * depth)


def _unit(text: str) -> str:
    found = _UNIT.search(text)
    return found[1] if found else _USUAL_UNIT


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > _MAX_DEPTH:
        raise _fault(text, at, "it is nested too deep")
    first = text[at : at + 1]
    if first in ("{", "["):
        return _container(text, at, depth)
    if first == '"':
        word, end = _string(text, at)
        return JsonNode("scalar", at, end, word)
    found = _SCALAR.match(text, at)
    if found is None:
        raise _fault(text, at, "a value is missing")
    return JsonNode("scalar", at, found.end(), cast("object", json.loads(found[0])))


def _container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    members: list[JsonMember] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        member = _member(text, at, depth, named=is_object)
        members.append(member)
        at = _skip(text, member.node.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _fault(text, at, f"a comma or {close} is missing")
    if is_object:
        value: object = {one.name: one.node.value for one in members}
        return JsonNode("object", start, at + 1, value, tuple(members))
    return JsonNode("array", start, at + 1, [one.node.value for one in members], tuple(members))


def _member(text: str, at: int, depth: int, *, named: bool) -> JsonMember:
    if not named:
        return JsonMember(at, _value(text, at, depth + 1))
    if text[at : at + 1] != '"':
        raise _fault(text, at, "a name in double quotes is missing")
    name, end = _string(text, at)
    end = _skip(text, end)
    if text[end : end + 1] != ":":
        raise _fault(text, end, "a colon is missing")
    return JsonMember(at, _value(text, _skip(text, end + 1), depth + 1), name)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        word, end = cast("tuple[str, int]", json.JSONDecoder().raw_decode(text, at))
    except json.JSONDecodeError:
        raise _fault(text, at, "a text is not closed, or not well formed") from None
    return word, end


def _fault(text: str, at: int, what: str) -> InvalidInput:
    return InvalidInput(f"line {text.count(chr(10), 0, at) + 1}: {what}")
