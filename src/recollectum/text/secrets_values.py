"""Secrets in JSON: every text is redacted, with the name it stands under to tell what the text alone does not."""

from collections.abc import Mapping, Sequence

from recollectum.domain.message import Json
from recollectum.text.secrets import Secret, find_secrets, redact


def redact_value(value: Json, name: str = "") -> Json:
    """The value with every secret in it replaced; names stay, and so does all that is not text."""
    if isinstance(value, str):
        return _under(name, value)
    if isinstance(value, Mapping):
        return {key: redact_value(inner, key) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [redact_value(inner, name) for inner in value]
    return value


def find_under(name: str, text: str) -> tuple[Secret, ...]:
    """The secrets of a text that stands under a name in JSON, by their places in the text; without a name, its own."""
    before = f'"{name}": "'
    framed = find_secrets(f'{before}{text}"') if name else ()
    start, end = len(before), len(before) + len(text)
    # As below: what reaches out of the text is no help.
    if framed and all(start <= one.start and one.end <= end for one in framed):
        return tuple(Secret(one.start - start, one.end - start, one.kind) for one in framed)
    return find_secrets(text)


def _under(name: str, text: str) -> str:
    """The text as if it were read in JSON, where `"password": "…"` says more than the value does."""
    before = f'"{name}": "'
    done = redact(f'{before}{text}"').text if name else ""
    # A name that is a secret itself, or a text that a secret runs out of, is no help.
    if done.startswith(before) and done.endswith('"'):
        return redact(done[len(before) : -1]).text
    return redact(text).text
