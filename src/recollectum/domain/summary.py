"""Summary: the older part of a conversation in few words, and how far it reaches."""

from dataclasses import dataclass

#: The maker of a summary that no language model had a hand in.
BY_RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was said up to some message."""

    text: str
    #: The position of the last message that is folded in.
    up_to: int
    #: The model that wrote it, or `rules`.
    by: str
