"""Reads the old settings.json in its two forms, V1 (flat, camel case) and V2 (nested)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, cast

from recollectum.domain.records import dataclass
from recollectum.settings.check import Layer, SettingOrigin, SettingsScope, Tree, check_tree, leaves
from recollectum.settings.read import read_json
from recollectum.settings.registry import all_settings, nearest, sections

#: The names of V1, and their current names.
V1_NAMES: Mapping[str, str] = {
    "isolation": "isolation",
    "encryption": "encryption",
    "keyFile": "key_file",
    "defaultUser": "default_user",
    "busyTimeoutMs": "storage.busy_timeout_seconds",
    "openVaults": "storage.open_vaults",
    "readers": "storage.readers",
    "cacheKib": "storage.cache_kib",
    "reserveMib": "storage.reserve_mib",
    "retentionDays": "lifecycle.active_days",
    "archiveDays": "lifecycle.archive_days",
    "graceDays": "lifecycle.grace_days",
    "clockLeapDays": "lifecycle.clock_leap_days",
    "directSessions": "sessions.direct",
    "hookSessionMaxAgeHours": "sessions.hook_max_age_hours",
    "hookSessionMaxCount": "sessions.hook_max_count",
    "recallLimit": "recall.limit",
    "recallMax": "recall.max",
    "contextBudgetTokens": "context.tokens",
    "maxSessionMessages": "context.messages",
    "maxUserMemories": "context.memories",
}

_SECRET = re.compile(r"api_?key|token|secret|passw|passphrase|credential|bearer|private_?key", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LegacySettings:
    """An old file, its values under the current names."""

    path: Path
    #: Old name → new key, where they differ.
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, object] = field(default_factory=dict[str, object])
    problems: list[str] = field(default_factory=list[str])

    @property
    def form(self) -> Literal["V1", "V2"]:
        """Return V1 if the file has a name that only V1 has, else V2."""
        return "V1" if self.renamed else "V2"

    def check(self, environ: Mapping[str, str] | None) -> Layer:
        """Return the file as a layer of the user's scope; its problems use the old names."""
        tree: dict[str, object] = {}
        for key, raw in self.values.items():
            section, _, name = key.rpartition(".")
            table = cast("dict[str, object]", tree.setdefault(section, {})) if section else tree
            table[name] = raw
        names = {new: old for old, new in self.renamed.items()}
        layer = check_tree(tree, SettingOrigin(SettingsScope.USER, str(self.path)), environ, names)
        layer.problems[:0] = self.problems
        return layer

    def differences(self, tree: Tree) -> list[str]:
        """Return the keys of this file that settings.toml leaves out or sets to another value."""
        there = {".".join(path): raw for path, raw in leaves(tree)}
        return [key for key, raw in self.values.items() if key not in there or there[key] != raw]


def read_legacy(path: Path) -> LegacySettings | None:
    """Return the old file, or None if there is none."""
    tree = read_json(path)
    if tree is None:
        return None
    legacy = LegacySettings(path)
    for where in _secrets(tree):
        legacy.problems.append(
            f"{path}: {where!r} holds a secret, which does not belong in a settings file; "
            f"move it to an environment variable or the credential store and take it out of the file"
        )
    for keys, raw in leaves(tree):
        name = ".".join(keys)
        if name in all_settings() or name in V1_NAMES:
            _take(legacy, name, raw)
        elif not any(_SECRET.search(key) for key in keys) and not any(_secrets(raw)):
            near = nearest(name, (*V1_NAMES, *all_settings()))
            legacy.problems.append(f"{path}: {name!r} is not a setting; the nearest is {near!r}")
    return legacy


def _take(legacy: LegacySettings, name: str, raw: object) -> None:
    key = V1_NAMES.get(name, name)
    if name == "busyTimeoutMs" and isinstance(raw, int | float) and not isinstance(raw, bool):
        raw = raw / 1000
    elif name == "busyTimeoutMs":
        legacy.problems.append(f"{legacy.path}: {name} is not a number; write {key}, in seconds, instead")
    if key in legacy.values and legacy.values[key] != raw:
        legacy.problems.append(f"{legacy.path}: {key} is set twice, under its old and its new name; keep one of them")
    if key != name:
        legacy.renamed[name] = key
    legacy.values[key] = raw


def _secrets(tree: object, above: str = "") -> Iterator[str]:
    """Return the names, at any depth, that are no settings of ours and probably hold a secret."""
    if isinstance(tree, Mapping):
        for name, value in cast("Tree", tree).items():
            where = f"{above}.{name}" if above else name
            if where in all_settings() or where in V1_NAMES:
                continue
            if where not in sections() and _SECRET.search(name):
                yield where
            else:
                yield from _secrets(value, where)
