"""Lists every setting by dotted key, with its accepted values, and finds the nearest name to a wrong one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import MappingProxyType

from recollectum.domain.records import dataclass
from recollectum.settings.model import Settings
from recollectum.settings.spec import SPEC, UNPRINTABLE, Spec, Value
from recollectum.settings.values import without_password

PREFIX = "RECOLLECTUM_"
#: Variables of ours that are not settings.
OTHER_VARIABLES = frozenset(
    PREFIX + name
    for name in (
        *("HOME", "SYSTEM_DIR", "USER", "API_KEY", "PASSPHRASE", "FORCE_FILE_CREDENTIALS", "CORE_DUMPS"),
        *("URL", "CA_FILE"),
    )
)

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its dotted key, default and rules."""

    key: str
    default: Value
    spec: Spec

    @property
    def variable(self) -> str:
        """Return the environment variable of the setting."""
        return PREFIX + self.key.replace(".", "__").upper()

    @property
    def kind(self) -> str:
        """Return the type of the setting in a word or two."""
        if isinstance(self.default, str):
            return "choice" if self.spec.one_of else "text"
        return "whole number" if isinstance(self.default, int) else "number"

    @property
    def allowed(self) -> str:
        """Return the accepted values in words."""
        if self.spec.one_of:
            return " or ".join(f'"{word}"' for word in self.spec.one_of)
        if isinstance(self.default, str):
            return self.spec.wanted
        return f"a {self.kind} from {self.spec.least} to {self.spec.most}"

    def take(self, raw: object) -> Value | None:
        """Return the value in the setting's type, or None if it is not allowed."""
        if isinstance(self.default, str):
            return raw if isinstance(raw, str) and self._takes_text(raw) else None
        if isinstance(raw, bool) or not isinstance(raw, int if isinstance(self.default, int) else int | float):
            return None
        least, most = self.spec.least, self.spec.most
        if least is None or most is None or not least <= raw <= most:
            return None
        return type(self.default)(raw)

    def _takes_text(self, raw: str) -> bool:
        if self.spec.one_of:
            return raw in self.spec.one_of
        return not UNPRINTABLE.search(raw) and (self.spec.is_valid is None or self.spec.is_valid(raw))

    def shown(self, value: Value) -> Value:
        """Return the value as people may see it: without a password."""
        return without_password(value) if self.spec.secret and isinstance(value, str) else value

    def from_text(self, raw: str) -> Value:
        """Return a text from a variable or command line, as a number if the setting is one and the text parses."""
        bare = raw.strip()
        if isinstance(self.default, int) and _WHOLE.fullmatch(bare):
            return int(bare)
        if isinstance(self.default, float) and _NUMBER.fullmatch(bare):
            return float(bare)
        return raw


@cache
def all_settings() -> Mapping[str, Setting]:
    """Return every setting by dotted key, in the order of the model."""
    found: dict[str, Setting] = {}
    for name, value, spec in _fields(Settings()):
        if spec is not None and isinstance(value, Value):
            found[name] = Setting(key=name, default=value, spec=spec)
            continue
        for sub, inner, rules in _fields(value):
            if rules is not None and isinstance(inner, Value):
                found[f"{name}.{sub}"] = Setting(key=f"{name}.{sub}", default=inner, spec=rules)
    return MappingProxyType(found)


def _fields(of: object) -> Iterable[tuple[str, object, Spec | None]]:
    if is_dataclass(of):
        for one in fields(of):
            value: object = getattr(of, one.name)
            yield one.name, value, one.metadata.get(SPEC)


@cache
def sections() -> frozenset[str]:
    """Return the names of the tables in a settings file."""
    return frozenset(key.partition(".")[0] for key in all_settings() if "." in key)


#: How alike two names are when one is taken for a slip of the other.
_LEAST_LIKENESS = 0.7


def nearest(name: str, among: Iterable[str]) -> str:
    """Return the name most similar to the given one, as a whole or by its last part."""
    return max(among, key=lambda candidate: _likeness(name, candidate))


def is_like(name: str, other: str) -> bool:
    """Return whether one name may be a slip of the other."""
    return _likeness(name, other) >= _LEAST_LIKENESS


def _likeness(name: str, other: str) -> float:
    from difflib import SequenceMatcher  # noqa: PLC0415 - needed only to word an error

    wholes = SequenceMatcher(None, _plain(name), _plain(other)).ratio()
    lasts = SequenceMatcher(None, _plain(_last(name)), _plain(_last(other))).ratio()
    return max(wholes, lasts)


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition("__")[2]


def _plain(name: str) -> str:
    return name.lower().replace("_", "").removeprefix("recollectum")
