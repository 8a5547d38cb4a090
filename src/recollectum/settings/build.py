"""Checked values by dotted key, as one Settings."""

from collections.abc import Mapping
from dataclasses import replace

from recollectum.settings.model import Settings
from recollectum.settings.spec import Value


def build(values: Mapping[str, Value]) -> Settings:
    """The built-in settings with these in their place; the values must have been checked."""
    top: dict[str, object] = {}
    sections: dict[str, dict[str, Value]] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        if section:
            sections.setdefault(section, {})[name] = value
        else:
            top[name] = value
    settings = Settings()
    for section, inner in sections.items():
        top[section] = replace(getattr(settings, section), **inner)
    return replace(settings, **top)
