"""Our values as TOML text."""

import json
from collections.abc import Mapping

from recollectum.settings.known import known
from recollectum.settings.spec import Value


def literal(value: Value) -> str:
    """One value as TOML writes it."""
    if isinstance(value, str):
        # JSON's escapes are TOML's too, except that TOML also wants DEL escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def document(values: Mapping[str, Value], heading: str) -> str:
    """A settings file that sets just these, in the order of the model."""
    lines = [f"# {heading}"]
    section = ""
    for key in (key for key in known() if key in values):
        table, _, name = key.rpartition(".")
        if table != section:
            lines += ["", f"[{table}]"]
            section = table
        lines.append(f"{name} = {literal(values[key])}")
    return "\n".join(lines) + "\n"
