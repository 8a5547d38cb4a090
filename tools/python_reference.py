"""Makes the reference page of the Python API from the public names and their docstrings."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import cast, get_args

import recollectum
from recollectum.vault.service import Service

#: The attribute of every class that a method or an attribute returns.
_SERVICE = "gate"
#: Other classes that an open home returns.
_HANDED_OUT = frozenset({"HomeAdmin", "KeyStore", "LoadedSettings"})
#: Names that are not classes, and their meaning.
_ALIASES = {
    "Clock": "A function that gives the time: `() -> datetime`.",
    "Cursor": "Where a page begins; an opaque text that a page gives as `next`.",
    "Json": "What JSON can write.",
    "Part": "One part of a message's content: a mapping with a `type`.",
}
_JSON = "None | bool | int | float | str | Sequence['Json'] | Mapping[str, 'Json']"
_OWN_MODULE = re.compile(
    r"\b(?:recollectum|collections|datetime|pathlib|types|typing)(?:\.\w+)*\.(?=[A-Z]|datetime|timedelta)"
)
_ENUM = re.compile(r"<(\w+\.\w+): [^>]*>")
_QUOTED = re.compile(r"'([A-Z]\w+)'")
_SET = re.compile(r"frozenset\(\{([^}]*)\}\)")
_FUNCTION = re.compile(r"<function (\w+) at 0x[0-9a-f]+>")


def python_page(made: str) -> str:
    """Return every public name with its signature, its docstring and its methods."""
    parts = ["# Python", made]
    for name in recollectum.__all__:
        parts += _name(name, getattr(recollectum, name))
    return "\n\n".join(parts) + "\n"


def _name(name: str, found: type[object]) -> Iterator[str]:
    yield f"## `{name}`"
    if name in _ALIASES:
        yield _ALIASES[name]
        return
    if words := get_args(found):
        enum, literal = words
        yield (
            f"A member of `{enum.__name__}`, or its word: " + ", ".join(f"`{word}`" for word in get_args(literal)) + "."
        )
        return
    if issubclass(found, Enum):
        members: list[Enum] = list(found)
        yield (inspect.getdoc(found) or "").partition("\n")[0]
        yield "One of " + ", ".join(f"`{member.value}`" for member in members) + "."
        return
    by_hand = name not in _HANDED_OUT and not hasattr(found, _SERVICE) and not getattr(found, "_is_protocol", False)
    if not issubclass(found, Exception) and by_hand:
        yield f"```python\n{_signature(name, found).removesuffix(' -> None')}\n```"
    yield _first_line(found)
    yield from _members(name, found)


def _members(name: str, of: type) -> Iterator[str]:
    """Yield the public methods and properties that the class itself defines."""
    lines: list[str] = []
    for member, found in vars(of).items():
        if member.startswith("_") or member == "gate":
            continue
        if isinstance(found, property | Service):
            lines.append(f"- `{name}.{member}`: {_first_line(cast('object', found))}")
        elif callable(plain := getattr(found, "__func__", found)):
            lines.append(f"- `{_signature(f'{name}.{member}', plain)}`: {_first_line(plain)}")
    if lines:
        yield "\n".join(lines)


def _signature(name: str, of: object) -> str:
    """Return the signature without the modules of our types."""
    if not callable(of):
        return name
    signature = inspect.signature(of)
    kept = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = _FUNCTION.sub(r"\1", _ENUM.sub(r"\1", str(signature.replace(parameters=kept))))
    text = _OWN_MODULE.sub("", text).replace(_JSON, "Json").replace("<factory>", "{}")
    return name + _QUOTED.sub(r"\1", _SET.sub(_in_order, _with_aliases(text)))


def _with_aliases(text: str) -> str:
    """Return a signature with `KindName` where the interpreter writes the enum and all its values."""
    for name in recollectum.__all__:
        if name not in _ALIASES and (words := get_args(getattr(recollectum, name))):
            whole = f"{words[0].__name__}, {str(words[1]).removeprefix('typing.')}"
            text = text.replace(f"Union[{whole}, NoneType]", f"{name} | None").replace(f"Union[{whole}]", name)
    return text


def _in_order(found: re.Match[str]) -> str:
    """Return the members of a set by name, because the interpreter writes them in any order."""
    return "frozenset({" + ", ".join(sorted(found[1].split(", "))) + "})"


def _first_line(of: object) -> str:
    return (inspect.getdoc(of) or "").partition("\n")[0]
