"""When a growing transcript is worth reading: much has gathered, or it has come to rest."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a file holds that was not read yet."""

    bytes: int
    #: Whole lines, which are at least as many as the messages in them.
    lines: int
    #: Since the file last changed.
    rested_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Deltas:
    """How much is enough; 0 takes no notice of the number."""

    bytes: int
    messages: int
    debounce_seconds: float


def is_due(waiting: Waiting, deltas: Deltas) -> bool:
    """Whether to read the file now; a file with nothing new never is, one that rests always is."""
    if waiting.bytes <= 0:
        return False
    return (
        waiting.rested_seconds >= deltas.debounce_seconds
        or 0 < deltas.bytes <= waiting.bytes
        or 0 < deltas.messages <= waiting.lines
    )
