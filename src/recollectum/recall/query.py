"""Reads the words of a question's filters: the names of sources and of trust."""

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import SourceKind
from recollectum.domain.trust import Trust


def to_source(text: str) -> SourceKind:
    """The source of that name; any other is refused."""
    try:
        return SourceKind(text)
    except ValueError:
        raise InvalidInput(f"source {text!r} is unknown; use one of {', '.join(SourceKind)}") from None


def to_trust(text: str) -> Trust:
    """The trust of that name; any other is refused."""
    try:
        return Trust(text)
    except ValueError:
        raise InvalidInput(f"trust {text!r} is unknown; use one of {', '.join(Trust)}") from None
