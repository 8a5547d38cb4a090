"""Context: the block that is given to a model, and the ledger of what it cost."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.trust import Trust


class PartKind(StrEnum):
    """What a line of a context is."""

    MEMORY = "memory"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most a context may hold."""

    tokens: int
    messages: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that could go in, with where it came from."""

    kind: PartKind
    id: str
    #: Who said or wrote it.
    speaker: str
    text: str
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """What one candidate cost, or why it was left out."""

    kind: PartKind
    id: str
    tokens: int
    #: None when it went in.
    left_out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A text for a model, never over its budget, and the account of it."""

    text: str
    #: A conservative estimate of the whole text.
    tokens: int
    budget: Budget
    ledger: tuple[LedgerLine, ...]
