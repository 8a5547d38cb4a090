"""Describes one setting: its help text, its range, and whether a project may set it."""

import re
from collections.abc import Callable
from dataclasses import field
from typing import TypeVar

from recollectum.domain.records import dataclass
from recollectum.settings.values import is_database_url

#: The types of values in a settings file.
Value = str | int | float

SPEC = "spec"
#: Control characters, and lone surrogates, which no file can hold.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

T = TypeVar("T", bound=Value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The rules of one setting, stored beside its default."""

    doc: str
    least: float | None = None
    most: float | None = None
    one_of: tuple[str, ...] = ()
    #: A test for texts, with a description of what it accepts.
    is_valid: Callable[[str], bool] | None = None
    wanted: str = "text"
    #: Whether the settings file of a project may set it.
    project: bool = False
    #: Whether the value may hold a password, which is never shown.
    secret: bool = False


#: The days of a period that the settings leave to the retention preset.
PRESET = -1


def number(default: T, least: float, most: float, doc: str, *, project: bool = False) -> T:
    """Return a number setting from `least` to `most`; an integer if its default is one."""
    return field(default=default, metadata={SPEC: Spec(doc=doc, least=least, most=most, project=project)})


def choice(default: T, others: tuple[T, ...], doc: str, *, project: bool = False) -> T:
    """Return a setting that is one of a few words."""
    one_of = (str(default), *(str(other) for other in others))
    return field(default=default, metadata={SPEC: Spec(doc=doc, one_of=one_of, project=project)})


def text(default: T, is_valid: Callable[[str], bool], wanted: str, doc: str) -> T:
    """Return a text setting with a test; `wanted` describes what the test accepts."""
    return field(default=default, metadata={SPEC: Spec(doc=doc, is_valid=is_valid, wanted=wanted)})


def database_url(doc: str) -> str:
    """Return a setting for the address of a database, which may hold a password; it is empty by default."""
    wanted = "an address that begins with postgresql://, or empty"
    return field(default="", metadata={SPEC: Spec(doc=doc, is_valid=is_database_url, wanted=wanted, secret=True)})
