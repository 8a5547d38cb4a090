"""Turns a word that a caller gave into a member of an enum, or refuses it with the choices."""

from enum import StrEnum
from typing import TypeVar

from recollectum.domain.errors import InvalidInput

E = TypeVar("E", bound=StrEnum)


def parse_enum(cls: type[E], value: str, name: str) -> E:
    """The member of that value; `name` is what the caller calls it, for the sentence of a refusal."""
    try:
        return cls(value)
    except ValueError:
        raise InvalidInput(f"{name} {value!r} is unknown; use one of {', '.join(cls)}") from None
