"""Context: the text block that a model is given, its parts, the profile, and the ledger of what each part cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollectum.domain.message import Json, Message
from recollectum.domain.session import Summary
from recollectum.domain.trust import Trust

#: No profile has more bullets.
MAX_BULLETS = 20


@dataclass(frozen=True, slots=True)
class Bullet:
    """One line of a profile."""

    text: str
    #: The memories that say it; never empty.
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a person, the most important first."""

    bullets: tuple[Bullet, ...]
    #: The model that wrote it, or `rules`.
    by: str


#: Past this a budget is a mistake.
MAX_TOKENS = 10_000_000
#: How many ids of what was left out a ledger shows as JSON; the count is always whole.
SHOWN = 50


class PartKind(StrEnum):
    """What a part of a context is, in the order in which the parts stand."""

    NOTES = "notes"
    PROFILE = "profile"
    LEARNING = "learning"
    MEMORY = "memory"
    SUMMARY = "summary"
    MESSAGE = "message"
    #: The lines between parts, and what a whole costs beyond the sum of its parts.
    LAYOUT = "layout"


#: What each part may take of a budget's tokens, in hundredths; the window has the rest.
SHARES = {PartKind.NOTES: 15, PartKind.PROFILE: 10, PartKind.LEARNING: 10, PartKind.MEMORY: 25, PartKind.SUMMARY: 15}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most a context may hold."""

    tokens: int = 4000
    messages: int = 20
    memories: int = 50
    user_turns: int = 30
    #: How many recalled texts may come from elsewhere than the owner and the agent.
    untrusted: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledText:
    """A text that recall found, with everything its label says."""

    id: str
    text: str
    #: Where it stands, such as `memory mem_01j…` or `note tea.md:3-7`.
    source: str
    trust: Trust
    author: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that may go into a context."""

    #: The file of global notes, as the person wrote it.
    notes: str = ""
    #: The most important first.
    profile: Sequence[str] = ()
    learnings: Sequence[str] = ()
    #: The best first.
    recalled: Sequence[RecalledText] = ()
    summary: Summary | None = None
    #: The newest of the conversation, the oldest of them first.
    messages: Sequence[Message] = ()
    #: How many older messages the conversation has that are not among `messages`.
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCost:
    """What one part cost, and what is in it."""

    kind: PartKind
    tokens: int
    #: A memory's or message's id; elsewhere the place in its part, from 1.
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Things of one kind that did not go in, and why."""

    kind: PartKind
    #: May be more than there are ids, when some were not even loaded.
    count: int
    ids: tuple[str, ...]
    #: One sentence.
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One thing that went in, or that was left out for a reason."""

    kind: PartKind
    id: str
    #: None when it went in.
    left_out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The account of a context: the parts add up to the total, and the total is within the budget."""

    parts: tuple[PartCost, ...]
    left_out: tuple[LeftOut, ...]
    budget: Budget
    #: How the tokens were counted, and whether that is the model's own way.
    counter: str
    exact: bool

    @property
    def total(self) -> int:
        """What the whole context costs, in tokens."""
        return sum(part.tokens for part in self.parts)

    def __iter__(self) -> Iterator[LedgerLine]:
        """Everything by name: first what went in, then what did not."""
        for part in self.parts:
            for id in part.ids:
                yield LedgerLine(kind=part.kind, id=id)
        for group in self.left_out:
            for id in group.ids:
                yield LedgerLine(kind=group.kind, id=id, left_out=group.why)

    def to_dict(self) -> dict[str, Json]:
        """The ledger as JSON."""
        limits = self.budget
        return {
            "total": self.total,
            "budget": {
                "tokens": limits.tokens,
                "messages": limits.messages,
                "memories": limits.memories,
                "user_turns": limits.user_turns,
                "untrusted": limits.untrusted,
            },
            "counter": self.counter,
            "exact": self.exact,
            "parts": [
                {"kind": part.kind.value, "tokens": part.tokens, "items": len(part.ids), "ids": list(part.ids)}
                for part in self.parts
            ],
            "left_out": [
                {"kind": group.kind.value, "count": group.count, "ids": list(group.ids[:SHOWN]), "why": group.why}
                for group in self.left_out
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is given, never over its budget, and the account of it."""

    #: Everything but the conversation: what goes into a system prompt.
    text: str
    ledger: Ledger
    #: The newest turns, in order.
    messages: tuple[Message, ...] = ()
    #: The same turns as text, for a model that takes a single one; empty when there are none.
    conversation: str = ""
    #: The words of everything in the text, piece by piece: who hears them again must not learn them anew.
    served: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The text and the conversation in one."""
        return "\n\n".join(block for block in (self.text, self.conversation) if block)

    @property
    def tokens(self) -> int:
        """What the whole costs; at least what its counter counts."""
        return self.ledger.total

    @property
    def budget(self) -> Budget:
        """The most it could have held."""
        return self.ledger.budget

    def to_dict(self) -> dict[str, Json]:
        """The context as JSON."""
        return {
            "text": self.text,
            "messages": [
                {"id": one.id, "position": one.position, "role": one.role.value, "text": one.text}
                for one in self.messages
            ],
            "ledger": self.ledger.to_dict(),
        }
