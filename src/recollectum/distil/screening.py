"""Screening: what of a conversation may be read; the rest is blanked, so that every place stays where it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollectum.distil.echo import Echoes, Served
from recollectum.distil.sentences import around
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message, Role
from recollectum.domain.proposal import Span
from recollectum.domain.trust import Trust

#: The system prompt says nothing about the person that they said, and notices are the program's own.
_READ = frozenset({Role.USER, Role.ASSISTANT, Role.TOOL})


@dataclass(frozen=True, slots=True)
class Screened:
    """One message and what may be read of it."""

    message: Message
    #: As long as the text of the message, with spaces for what may not be read.
    text: str
    #: The ranges that were blanked.
    hidden: tuple[tuple[int, int], ...] = ()

    def hides(self, start: int, end: int) -> bool:
        """Whether a range has anything in it that may not be read."""
        return any(left < end and start < right for left, right in self.hidden)

    @property
    def is_owners(self) -> bool:
        """Whether it is the person's own word."""
        return self.message.role is Role.USER and self.message.trust is Trust.OWNER


@dataclass(frozen=True, slots=True)
class Screen:
    """What a conversation must not be read for: what was served, and what was forgotten."""

    #: For the person's own messages.
    heard: Echoes
    #: For all others, who also repeat what is known.
    repeated: Echoes
    barred: Sequence[Span]

    def of(self, message: Message) -> Screened:
        """The message with everything blanked that may not be read."""
        text = message.text
        echoes = self.heard if message.role is Role.USER else self.repeated
        hidden = [*_barred(message, text, self.barred), *echoes.places(text)]
        return Screened(message, _blanked(text, hidden), tuple(hidden))


def screen_for(
    conversation: Sequence[Message], known: Sequence[Memory], *, barred: Sequence[Span], served: Served
) -> Screen:
    """The screen of a conversation."""
    prompts = [one.text for one in conversation if one.role is Role.SYSTEM]
    # Said twice and forgotten once is forgotten.
    forgotten = [one.text[left:right] for one in conversation for left, right in _barred(one, one.text, barred)]
    given = [*served.texts, *prompts, *forgotten]
    return Screen(Echoes(given), Echoes([*given, *(memory.content for memory in known)]), barred)


def screened(conversation: Sequence[Message], screen: Screen) -> list[Screened]:
    """The messages that have something to read, in order."""
    all_of_them = (screen.of(message) for message in conversation if message.role in _READ)
    return [one for one in all_of_them if not one.text.isspace() and one.text]


def _barred(message: Message, text: str, barred: Sequence[Span]) -> list[tuple[int, int]]:
    spans = [(max(0, one.start), min(one.end, len(text))) for one in barred if one.message_id == message.id]
    return [around(text, start, end) for start, end in spans if start < end]


def _blanked(text: str, hidden: Iterable[tuple[int, int]]) -> str:
    for start, end in hidden:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
