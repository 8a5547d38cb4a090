"""Trust: where a text came from, from most to least believed."""

from enum import StrEnum
from typing import Literal, TypeAlias


class Trust(StrEnum):
    """Who is behind a text."""

    OWNER = "owner"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORTED = "imported"
    UNKNOWN = "unknown"


#: A trust as callers write it: the member, or its word.
TrustName: TypeAlias = Trust | Literal["owner", "assistant", "tool", "imported", "unknown"]


_RANK = {trust: rank for rank, trust in enumerate(Trust)}


def least_trusted(*trusts: Trust) -> Trust:
    """The weakest of several: what is derived is no better than its worst source."""
    return max(trusts, key=_RANK.__getitem__)
