"""Context: the text block that a model is given, its parts, the profile, and the ledger of what each part cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from recollectum.domain.message import Json, Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import Summary
from recollectum.domain.trust import Trust

if TYPE_CHECKING:
    from recollectum.domain.models.language_model import Turn

#: The largest number of bullets in a profile.
MAX_BULLETS = 20


@dataclass(frozen=True, slots=True)
class Bullet:
    """One line of a profile."""

    text: str
    #: The memories it is based on; never empty.
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about a person, most important first."""

    bullets: tuple[Bullet, ...]
    #: The model that wrote it, or `rules`.
    by: str


#: A larger budget is refused as a mistake.
MAX_TOKENS = 10_000_000
#: How many ids of left-out items a ledger shows in JSON; the count is always complete.
SHOWN = 50


class PartKind(StrEnum):
    """The kind of a part, in the order of the parts in a context."""

    NOTES = "notes"
    PROFILE = "profile"
    LEARNING = "learning"
    MEMORY = "memory"
    SUMMARY = "summary"
    MESSAGE = "message"
    #: The lines between parts, and what the whole costs beyond the sum of its parts.
    LAYOUT = "layout"


#: The share of each part in a budget's tokens, in per cent; the message window gets the rest.
SHARES = {PartKind.NOTES: 15, PartKind.PROFILE: 10, PartKind.LEARNING: 10, PartKind.MEMORY: 25, PartKind.SUMMARY: 15}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of a context."""

    tokens: int = 4000
    messages: int = 20
    memories: int = 50
    user_turns: int = 30
    #: How many recalled texts may come from sources other than the owner and the agent.
    untrusted: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledText:
    """A text that recall found, with everything its label needs."""

    id: str
    text: str
    #: Its place, such as `memory mem_01j…` or `note tea.md:3-7`.
    source: str
    trust: Trust
    author: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that may go into a context."""

    #: The file of global notes, as the person wrote it.
    notes: str = ""
    #: Most important first.
    profile: Sequence[str] = ()
    learnings: Sequence[str] = ()
    #: The memory that a line of the profile or the learnings is, word for word.
    memory_of: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Best first.
    recalled: Sequence[RecalledText] = ()
    summary: Summary | None = None
    #: The newest messages of the conversation, oldest first.
    messages: Sequence[Message] = ()
    #: How many older messages of the conversation are not among `messages`.
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCost:
    """The cost and the content of one part."""

    kind: PartKind
    tokens: int
    #: The id of a memory or message; for other items their position in the part, from 1.
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Items of one kind that were left out, and why."""

    kind: PartKind
    #: May exceed the number of ids, when some were not even loaded.
    count: int
    ids: tuple[str, ...]
    #: One sentence.
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One item that is in the context, or that was left out for a reason."""

    kind: PartKind
    id: str
    #: None when it is in the context.
    left_out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The account of a context: the parts add up to the total, and the total is within the budget."""

    parts: tuple[PartCost, ...]
    left_out: tuple[LeftOut, ...]
    budget: Budget
    #: How tokens were counted, and whether that is the model's own tokeniser.
    counter: str
    exact: bool
    #: Whether a replica answered: it may lack the last writes of other processes, and none of this one's.
    replica: bool = False

    @property
    def total(self) -> int:
        """The cost of the whole context, in tokens."""
        return sum(part.tokens for part in self.parts)

    def __iter__(self) -> Iterator[LedgerLine]:
        """Yield every item: first those in the context, then those left out."""
        for part in self.parts:
            for id in part.ids:
                yield LedgerLine(kind=part.kind, id=id)
        for group in self.left_out:
            for id in group.ids:
                yield LedgerLine(kind=group.kind, id=id, left_out=group.why)

    def to_dict(self) -> dict[str, Json]:
        """Return the ledger as JSON."""
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


class AnthropicRequest(TypedDict):
    """What Anthropic's `messages.create` gets of a context."""

    #: Missing when there are no instructions: an empty text is refused there.
    system: NotRequired[str]
    messages: list[Any]


class GeminiRequest(TypedDict):
    """What `generate_content` of Google's library gets of a context."""

    contents: list[Any]
    #: The instructions; a program adds its other settings.
    config: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model gets, never over its budget, with its ledger."""

    #: Everything but the conversation: the text for a system prompt.
    text: str
    ledger: Ledger
    #: The newest turns, in order.
    messages: tuple[Message, ...] = ()
    #: The same turns as text, for a model that takes one text; empty when there are none.
    conversation: str = ""
    #: The text of every item, piece by piece: an agent that repeats them must not learn them again.
    served: tuple[str, ...] = ()
    #: The ids of the memories and messages that are in the text word for word.
    verbatim_ids: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The text and the conversation as one text."""
        return "\n\n".join(block for block in (self.text, self.conversation) if block)

    @property
    def tokens(self) -> int:
        """The cost of the whole, at least what its counter counts."""
        return self.ledger.total

    @property
    def budget(self) -> Budget:
        """The budget in tokens."""
        return self.ledger.budget

    def to_dict(self) -> dict[str, Json]:
        """Return the context as JSON."""
        return {
            "text": self.text,
            "messages": [
                {"id": one.id, "position": one.position, "role": one.role.value, "text": one.text}
                for one in self.messages
            ],
            "ledger": self.ledger.to_dict(),
        }

    def to_openai(self, system: str = "", prompt: str = "") -> list[Any]:
        """Return it as messages of OpenAI's chat completions; most other servers take them too.

        `system` is the program's own instructions, which come before the context, and `prompt` is what the person
        says now; both are outside the budget. The messages are those of the person, the assistant and its tools, each
        call with its result; pictures and files are left out.
        """
        # Imported here, as in the other two: few programs write contexts for a client library.
        from recollectum.domain.models.chat_formats import openai_messages  # noqa: PLC0415

        told = self._instructions(system)
        first = [{"role": "system", "content": told}] if told else []
        return [*first, *openai_messages(self._turns(prompt))]

    def to_anthropic(self, system: str = "", prompt: str = "") -> AnthropicRequest:
        """Return `system` and `messages` for Anthropic's `messages.create`, made like those for OpenAI."""
        from recollectum.domain.models.chat_formats import anthropic_messages  # noqa: PLC0415

        said = anthropic_messages(self._turns(prompt))
        told = self._instructions(system)
        return {"system": told, "messages": said} if told else {"messages": said}

    def to_gemini(self, system: str = "", prompt: str = "") -> GeminiRequest:
        """Return `contents` and `config` for `generate_content` of Google's library, made like those for OpenAI."""
        from recollectum.domain.models.chat_formats import gemini_contents  # noqa: PLC0415

        told = self._instructions(system)
        config = {"system_instruction": told} if told else {}
        return {"contents": gemini_contents(self._turns(prompt)), "config": config}

    def _instructions(self, system: str) -> str:
        return "\n\n".join(block for block in (system.strip(), self.text) if block)

    def _turns(self, prompt: str) -> "list[Turn]":
        from recollectum.domain.message import Role  # noqa: PLC0415
        from recollectum.domain.models.chat_formats import to_turns  # noqa: PLC0415
        from recollectum.domain.models.language_model import Turn  # noqa: PLC0415

        return [*to_turns(self.messages), *([Turn(role=Role.USER, text=prompt)] if prompt.strip() else [])]
