"""Secrecy: statements that hold one, which no memory should."""

import re

_SECRET = re.compile(
    r"\b(?:pass(?:word|code|phrase)|pin(?: code| number)?|api[ _-]?key|secret(?: key)?|access token|private key|cvv"
    r"|iban|card number|credit card|security code|ssn|social security number)\b.{0,40}?(?:\bis\b|:|=|\bare\b)"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY|\b(?:\d[ -]?){15,16}\b",
    re.IGNORECASE,
)


def holds_secret(text: str) -> bool:
    """Whether the text tells a password, a key or a card number, as far as its form shows."""
    return _SECRET.search(text) is not None
