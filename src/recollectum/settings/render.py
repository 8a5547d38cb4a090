"""Renders settings as TOML text and as the Markdown reference page."""

import json
from collections.abc import Mapping

from recollectum.settings.registry import Setting, all_settings
from recollectum.settings.spec import Value


def to_toml_value(value: Value) -> str:
    """Return one value as TOML."""
    if isinstance(value, str):
        # JSON's escapes are valid in TOML, but TOML also needs DEL escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def to_toml_document(values: Mapping[str, Value], heading: str) -> str:
    """Return a settings file that sets these values only, in the order of the model."""
    lines = [f"# {heading}"]
    section = ""
    for key in (key for key in all_settings() if key in values):
        table, _, name = key.rpartition(".")
        if table != section:
            lines += ["", f"[{table}]"]
            section = table
        lines.append(f"{name} = {to_toml_value(values[key])}")
    return "\n".join(lines) + "\n"


_HEAD = """| setting | may be | default | variable | project may set it | what it does |
|---|---|---|---|---|---|
"""


def reference_page() -> str:
    """Return a Markdown table of every setting."""
    return _HEAD + "".join(f"{_row(setting)}\n" for setting in all_settings().values())


def _row(setting: Setting) -> str:
    cells = (
        f"`{setting.key}`",
        setting.allowed,
        f"`{to_toml_value(setting.default)}`",
        f"`{setting.variable}`",
        "yes" if setting.spec.project else "no",
        setting.spec.doc,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
