"""Folds names as the tables compare them: ASCII capitals become small letters, and nothing else changes."""

from string import ascii_lowercase, ascii_uppercase

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def fold(name: str) -> str:
    """Return the name in small letters, as SQLite's `lower` does."""
    return name.translate(_SMALL)


def fold_or_none(name: str | None) -> str | None:
    """Return the name in small letters, or None."""
    return None if name is None else name.translate(_SMALL)
