"""The reference page of all settings, made from the model."""

from recollectum.settings.known import Setting, known
from recollectum.settings.toml import literal

_HEAD = """| setting | may be | default | variable | project may set it | what it does |
|---|---|---|---|---|---|
"""


def reference() -> str:
    """A Markdown table of every setting."""
    return _HEAD + "".join(f"{_row(setting)}\n" for setting in known().values())


def _row(setting: Setting) -> str:
    cells = (
        f"`{setting.key}`",
        setting.allowed,
        f"`{literal(setting.default)}`",
        f"`{setting.variable}`",
        "yes" if setting.spec.project else "no",
        setting.spec.doc,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
