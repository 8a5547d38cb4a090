"""`${NAME}` in a text of a settings file: the value of an environment variable; `$$` is a dollar sign."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recollectum.settings.spec import UNPRINTABLE

_DOLLAR = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\})?")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A text with its references filled in, and what stood in the way."""

    text: str
    #: The variables it names.
    names: tuple[str, ...]
    problems: tuple[str, ...]


def resolve(text: str, environ: Mapping[str, str] | None) -> Resolved:
    """Fill the references in; without an environment they are only checked for their form."""
    names: list[str] = []
    problems: list[str] = []
    if UNPRINTABLE.search(text):
        problems.append("holds a control character; leave it out")

    def fill(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name: str | None = found["name"]
        if name is None:
            problems.append("holds a single $; write ${NAME} for a variable, or $$ for a dollar sign")
            return ""
        names.append(name)
        if environ is not None and name not in environ:
            problems.append(f"refers to the variable {name}, which is not set; set it, or write $$ for a dollar sign")
        return "" if environ is None else environ.get(name, "")

    filled = _DOLLAR.sub(fill, text)
    return Resolved(filled, tuple(names), tuple(dict.fromkeys(problems)))
