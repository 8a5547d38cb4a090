"""Trust: where a text came from, from most to least trusted."""

from enum import StrEnum
from typing import Literal, TypeAlias


class Trust(StrEnum):
    """Who is behind a text."""

    OWNER = "owner"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORTED = "imported"
    UNKNOWN = "unknown"


#: A trust as callers write it: the member, or its value.
TrustName: TypeAlias = Trust | Literal["owner", "assistant", "tool", "imported", "unknown"]


_RANK = {trust: rank for rank, trust in enumerate(Trust)}


def least_trusted(*trusts: Trust) -> Trust:
    """Return the lowest of several: derived text is no better than its worst source."""
    return max(trusts, key=_RANK.__getitem__)
