"""Prompts: the instructions for models, which are files of this package."""

from pathlib import Path

_FOLDER = Path(__file__).parent / "prompts"


def prompt(name: str) -> str:
    """The instructions of that name."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
