"""Checks a settings file, the environment or overrides against the model, and resolves `${NAME}` references."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import cast

from recollectum.domain.records import dataclass
from recollectum.settings.registry import OTHER_VARIABLES, PREFIX, Setting, all_settings, nearest, sections
from recollectum.settings.spec import UNPRINTABLE, Value

_DOLLAR = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\})?")


@dataclass(frozen=True, slots=True)
class ResolvedText:
    """A text with its references resolved, and the problems found."""

    text: str
    #: The variables it names.
    names: tuple[str, ...]
    problems: tuple[str, ...]


def resolve_references(text: str, environ: Mapping[str, str] | None) -> ResolvedText:
    """Resolve the references; without an environment, only check their form."""
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
    return ResolvedText(filled, tuple(names), tuple(dict.fromkeys(problems)))


class SettingsScope(StrEnum):
    """The scopes of settings; a later one wins over an earlier one."""

    BUILT_IN = "built-in"
    EXTENSION = "extension"
    SYSTEM_DEFAULTS = "system defaults"
    USER = "user"
    WORKSPACE = "workspace"
    SYSTEM = "system"
    ENVIRONMENT = "environment"
    OVERRIDE = "override"


#: Files that anybody may have written, which may set only what is harmless.
_OF_OTHERS = {SettingsScope.WORKSPACE: "a project", SettingsScope.EXTENSION: "an extension"}


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """The origin of a setting: its scope, and the file or variable."""

    scope: SettingsScope
    source: str = ""

    def __str__(self) -> str:
        """Return the scope, and the file or variable if there is one."""
        return f"{self.scope} ({self.source})" if self.source else str(self.scope)


#: The content of a parsed settings file.
Tree = Mapping[str, object]
_LONGEST_SHOWN = 60
#: The sections of models, in which a person may try to set a key; and the names they may use for it.
_WITH_KEYS = ("embedding", "language_model", "rerank")
_SECRET = re.compile("api_?key|secret|passw|credential|bearer|auth|^key$|(^|api_?|access_?)token$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings of one origin, by dotted key, and its problems."""

    origin: SettingOrigin
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    problems: list[str] = field(default_factory=list[str])

    def complain(self, sentence: str) -> None:
        """Add a problem, with the name of the file."""
        self.problems.append(f"{self.origin.source}: {sentence}")

    def take(self, setting: Setting, raw: object, shown: object, name: str) -> None:
        """Store the value, or add a problem with the accepted values. A resolved reference is never shown."""
        value = setting.take(raw)
        if value is None:
            self.complain(f"{name} is {show_wrong(setting, shown)}; it must be {setting.allowed}")
        else:
            self.values[setting.key] = value


def check_tree(
    tree: Tree,
    origin: SettingOrigin,
    environ: Mapping[str, str] | None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Layer:
    """Return the settings of a parsed file; `names` are the old names if the file uses those.

    Without an environment, a value with references is checked for its form only and left out of the values.
    """
    layer = Layer(origin)
    for path, raw in leaves(tree):
        key = ".".join(path)
        name = names.get(key, key)
        # A quoted key with a dot in it looks like one of ours, but is not.
        setting = all_settings().get(key) if not any("." in part for part in path) else None
        if setting is None:
            layer.complain(_unknown(key))
        elif origin.scope in _OF_OTHERS and not setting.spec.project:
            whose = _OF_OTHERS[origin.scope]
            layer.complain(f"{name} may not be set by {whose}; set it in your own settings instead")
        elif isinstance(raw, str) and "$" in raw:
            _take_reference(layer, setting, raw, name, environ)
        else:
            layer.take(setting, raw, raw, name)
    return layer


def _take_reference(layer: Layer, setting: Setting, raw: str, name: str, environ: Mapping[str, str] | None) -> None:
    if whose := _OF_OTHERS.get(layer.origin.scope):
        layer.complain(f"{name} refers to the environment, which {whose} may not; write the value itself")
        return
    resolved = resolve_references(raw, environ)
    for problem in resolved.problems:
        layer.complain(f"{name} {problem}")
    if not resolved.problems and (environ is not None or not resolved.names):
        layer.take(setting, setting.from_text(resolved.text), raw, name)


def leaves(tree: Tree) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield each value of a parsed file with its path: a name, or a section and a name."""
    for name, value in tree.items():
        inner: Tree = cast("Tree", value) if isinstance(value, Mapping) and name not in all_settings() else {}
        yield from (((name, sub), leaf) for sub, leaf in inner.items())
        if not inner and not (name in sections() and isinstance(value, Mapping)):
            yield (name,), value


def _unknown(key: str) -> str:
    if key in sections():
        return f"{key} is a section; write [{key}] on a separate line, with its settings below"
    section, _, name = key.rpartition(".")
    if section in _WITH_KEYS and _SECRET.search(name):
        # Anybody who can read the file could use it.
        return (
            f"{key} does not belong in a settings file; "
            f"put the key into the environment variable named by {section}.key_variable"
        )
    return f"{_show(key)} is not a setting; the nearest is {nearest(key, all_settings())!r}"


def check_environment(environ: Mapping[str, str]) -> Layer:
    """Return the settings of environment variables. An empty variable counts as not set."""
    layer = Layer(SettingOrigin(SettingsScope.ENVIRONMENT))
    by_variable = {setting.variable: setting for setting in all_settings().values()}
    for name, text in sorted(environ.items()):
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES:
            continue
        setting = by_variable.get(name)
        if setting is None:
            # The value is not shown: a misspelt variable may hold a secret.
            near = nearest(name, (*by_variable, *OTHER_VARIABLES))
            layer.problems.append(f"the variable {name} is not a setting; the nearest is {near}")
        elif text and (value := setting.take(setting.from_text(text))) is not None:
            layer.values[setting.key] = value
        elif text:
            layer.problems.append(f"the variable {name} is {show_wrong(setting, text)}; it must be {setting.allowed}")
    return layer


def check_overrides(overrides: Mapping[str, object]) -> Layer:
    """Return the settings that were given for this run only, by dotted key."""
    layer = Layer(SettingOrigin(SettingsScope.OVERRIDE, "given for this run"))
    for key, raw in overrides.items():
        setting = all_settings().get(key)
        if setting is None:
            layer.complain(_unknown(key))
        else:
            layer.take(setting, setting.from_text(raw) if isinstance(raw, str) else raw, raw, key)
    return layer


def show_wrong(setting: Setting, value: object) -> str:
    """Return a value that a setting does not accept, for an error; not one that may hold a password."""
    has_login = isinstance(value, str) and "://" in value and "@" in value
    return "not shown, because it may hold a password" if setting.spec.secret or has_login else _show(value)


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    return shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + "…"
