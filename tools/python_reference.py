"""The reference page of the Python face, made from the public names and their docstrings."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum

import recollectum
from recollectum.vault.access.keys import Keys
from recollectum.vault.access.people import People
from recollectum.vault.events import Events
from recollectum.vault.index import Index
from recollectum.vault.memories.service import Memories
from recollectum.vault.notes.service import Notes
from recollectum.vault.retention.lifecycle import Lifecycle
from recollectum.vault.sessions.service import Sessions

#: Services that are reached through an attribute and have no public name of their own.
_SERVICES = {
    "Recollectum": {"people": People, "keys": Keys},
    "Vault": {
        "memories": Memories,
        "sessions": Sessions,
        "notes": Notes,
        "events": Events,
        "lifecycle": Lifecycle,
        "index": Index,
    },
}
#: Classes that a method hands out.
_NOT_MADE_BY_HAND = frozenset({"Chat", "Vault"})
_JSON = "None | bool | int | float | str | Sequence['Json'] | Mapping[str, 'Json']"
_OWN_MODULE = re.compile(
    r"\b(?:recollectum|collections|datetime|pathlib|types|typing)(?:\.\w+)*\.(?=[A-Z]|datetime|timedelta)"
)
_ENUM = re.compile(r"<(\w+\.\w+): [^>]*>")
_QUOTED = re.compile(r"'([A-Z]\w+)'")
_FUNCTION = re.compile(r"<function (\w+) at 0x[0-9a-f]+>")


def python_page(made: str) -> str:
    """Every public name with its signature, its sentence and its methods."""
    parts = ["# Python", made]
    for name in recollectum.__all__:
        parts += _name(name, getattr(recollectum, name))
    return "\n\n".join(parts) + "\n"


def _name(name: str, found: type[object]) -> Iterator[str]:
    yield f"## `{name}`"
    if issubclass(found, Enum):
        members: list[Enum] = list(found)
        yield (inspect.getdoc(found) or "").partition("\n")[0]
        yield "One of " + ", ".join(f"`{member.value}`" for member in members) + "."
        return
    if not issubclass(found, Exception) and name not in _NOT_MADE_BY_HAND:
        yield f"```python\n{_signature(name, found).removesuffix(' -> None')}\n```"
    yield _first_line(found)
    yield from _members(name, found)
    for attribute, service in _SERVICES.get(name, {}).items():
        yield f"### `{name}.{attribute}`"
        yield _first_line(service)
        yield from _members(f"{name}.{attribute}", service)


def _members(name: str, of: type) -> Iterator[str]:
    """The public methods and properties that the class itself defines."""
    lines: list[str] = []
    for member, found in vars(of).items():
        if member.startswith("_") or member == "gate":
            continue
        if isinstance(found, property):
            lines.append(f"- `{name}.{member}`: {_first_line(found)}")
        elif callable(plain := getattr(found, "__func__", found)):
            lines.append(f"- `{_signature(f'{name}.{member}', plain)}`: {_first_line(plain)}")
    if lines:
        yield "\n".join(lines)


def _signature(name: str, of: object) -> str:
    """The call as one would write it, without where our types live."""
    if not callable(of):
        return name
    signature = inspect.signature(of)
    kept = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = _FUNCTION.sub(r"\1", _ENUM.sub(r"\1", str(signature.replace(parameters=kept))))
    return name + _QUOTED.sub(r"\1", _OWN_MODULE.sub("", text).replace(_JSON, "Json").replace("<factory>", "{}"))


def _first_line(of: object) -> str:
    return (inspect.getdoc(of) or "").partition("\n")[0]
