"""Escapes control characters and bidirectional marks, so that stored text cannot act on a terminal."""

import re

# Controls other than newline and tab, marks that reverse the reading order, and separators that break lines.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_SPACES = re.compile(r"\s+")


def visible(text: str) -> str:
    """Return the text with every control character escaped; newlines and tabs stay."""
    return _UNSAFE.sub(_spell, text)


def one_line(text: str, longest: int | None = None) -> str:
    """Return the text on one line, cut when it is too long."""
    flat = visible(_SPACES.sub(" ", text).strip())
    return flat if longest is None or len(flat) <= longest else flat[: longest - 1] + "…"


def _spell(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
