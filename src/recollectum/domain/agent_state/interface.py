"""InterfaceValue: one value that a user interface keeps between runs, such as its theme."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import field

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass

#: The interface when none is named.
DEFAULT_INTERFACE = "main"
#: Bytes of all values of one interface, and how many values it may have.
MOST_BYTES = 65_536
MOST_VALUES = 500
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
_LONGEST_NAME = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceValue:
    """One value of a user interface."""

    interface: str
    key: str
    value: Json
    #: What was done to the value before it was written.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME


def _is_name_or_nothing(value: Json) -> bool:
    return value is None or _is_name(value)


def _are_counts(value: Json) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in value.values()
    )


def _are_names(value: Json) -> bool:
    return isinstance(value, Mapping) and all(_is_name(one) for one in value.values())


_A_NAME = "a text of 1 to 128 characters"
_COUNTS = 'an object of counts, such as {"welcome": 2}'
#: The keys whose values every interface reads alike, with their checks; any other key may have any value.
KNOWN: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "theme": (_is_name, _A_NAME),
    "editor": (_is_name, _A_NAME),
    "last_dialog": (_is_name_or_nothing, f"{_A_NAME}, or null"),
    "tips_shown": (_are_counts, _COUNTS),
    "banners_shown": (_are_counts, _COUNTS),
    "seen_versions": (_are_names, 'an object of versions, such as {"release-notes": "1.4.0"}'),
}


def check_state_key(key: str) -> str:
    """Return the key of a value; raise unless it is a letter followed by letters, digits, dots, lines and hyphens."""
    if not _KEY.fullmatch(key):
        raise InvalidInput(
            f"key {key[:80]!r} is not allowed; begin with a letter, and use letters, digits, '.', '_' and '-', "
            "at most 128 in all"
        )
    return key


def check_state_value(key: str, value: Json) -> Json:
    """Return the value of a key; raise when it is a known key that takes another kind of value."""
    is_right, words = KNOWN.get(key, (None, ""))
    if is_right and not is_right(value):
        raise InvalidInput(f"{key} cannot be {json.dumps(value)[:80]}; give {words}")
    return value
