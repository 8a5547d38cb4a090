"""Describes one setting: its help text, its range, and whether a project may set it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

#: What a settings file can hold for us.
Value = str | int | float

SPEC = "spec"
#: Control characters, and halves of characters that no file can hold.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

T = TypeVar("T", bound=Value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The rules of one setting, kept beside its default."""

    doc: str
    least: float | None = None
    most: float | None = None
    one_of: tuple[str, ...] = ()
    #: A test for texts, with what it wants in words.
    is_valid: Callable[[str], bool] | None = None
    wanted: str = "text"
    #: Whether the settings file of a project may make it.
    project: bool = False


def number(default: T, least: float, most: float, doc: str, *, project: bool = False) -> T:
    """A setting that is a number from `least` to `most`, whole where its default is."""
    return field(default=default, metadata={SPEC: Spec(doc=doc, least=least, most=most, project=project)})


def choice(default: T, others: tuple[T, ...], doc: str, *, project: bool = False) -> T:
    """A setting that is one of a few words."""
    one_of = (str(default), *(str(other) for other in others))
    return field(default=default, metadata={SPEC: Spec(doc=doc, one_of=one_of, project=project)})


def text(default: T, is_valid: Callable[[str], bool], wanted: str, doc: str) -> T:
    """A setting that is any text which passes a test; `wanted` says in words what that is."""
    return field(default=default, metadata={SPEC: Spec(doc=doc, is_valid=is_valid, wanted=wanted)})
