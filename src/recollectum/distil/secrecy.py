"""Secrecy: statements that hold a secret, or the place of one, which no memory should."""

import re

from recollectum.text.secrets import find_secrets

# Where the words alone tell: "my password is swordfish" has nothing that looks like a key.
_TOLD = re.compile(
    r"\b(?:pass(?:word|code|phrase)|pin(?: code| number)?|api[ _-]?key|secret(?: key)?|access token|private key|cvv"
    r"|iban|card number|credit card|security code|ssn|social security number)\b.{0,40}?(?:\bis\b|:|=|\bare\b)",
    re.IGNORECASE,
)
#: What stands in a message in the place of a secret.
_PLACE = "[secret:"


def holds_secret(text: str) -> bool:
    """Whether the text tells a password, a key or a card number, as far as its form and words show."""
    return _PLACE in text or _TOLD.search(text) is not None or bool(find_secrets(text))
