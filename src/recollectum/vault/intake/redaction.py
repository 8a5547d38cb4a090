"""Replaces secrets in texts and JSON values by `[secret:kind]`."""

from dataclasses import replace

from recollectum.domain.message import Json
from recollectum.domain.session import SessionKey, SessionKind

#: The beginning of every placeholder.
PLACEHOLDER = "[secret:"
_SHORTEST_SECRET = 8

# The patterns are slow to compile, and a program that only reads needs none of them: each function imports them when it
# is called.


def redact_text(text: str) -> str:
    """Return a text with `[secret:kind]` in place of each secret."""
    if len(text) < _SHORTEST_SECRET:
        # Most keys of JSON are that short.
        return text
    from recollectum.text.secrets.redaction import redact  # noqa: PLC0415

    return redact(text).text


def is_plain_text(text: str) -> bool:
    """Return whether a text certainly has no secret, nor any of its parts under a name that the text has."""
    from recollectum.text.secrets.redaction import is_plain  # noqa: PLC0415

    return is_plain(text)


def redact_place(key: SessionKey) -> SessionKey:
    """Return the key of a session without secrets in the names of its group and topic."""
    name = _redact_name(key.name) if key.kind is SessionKind.GROUP else key.name
    topic = _redact_name(key.topic)
    return key if (name, topic) == (key.name, key.topic) else replace(key, name=name, topic=topic)


def _redact_name(name: str | None) -> str | None:
    # Most names are too short for a secret, and a program that only reads needs no patterns.
    return redact_text(name) if name else name


def redact_lines(text: str) -> str:
    """Redact a text and keep its number of lines, so that a note is still cited by its lines."""
    from recollectum.text.secrets.redaction import find_secrets  # noqa: PLC0415

    for secret in reversed(find_secrets(text)):
        lines = "\n" * text.count("\n", secret.start, secret.end)
        text = f"{text[: secret.start]}[secret:{secret.kind}]{lines}{text[secret.end :]}"
    return text


def redact_json(value: Json, name: str = "") -> Json:
    """Return a JSON value with every secret in it replaced; `name` is its key in the surrounding object."""
    from recollectum.text.secrets.redaction import redact_value  # noqa: PLC0415

    return redact_value(value, name)


def find_secret_spans(text: str, name: str = "") -> list[tuple[int, int, str]]:
    """Return start, end and kind of each secret, last first; `name` is the key of the text in a JSON object."""
    from recollectum.text.secrets.redaction import find_under  # noqa: PLC0415

    return [(one.start, one.end, one.kind) for one in reversed(find_under(name, text))]
