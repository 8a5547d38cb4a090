"""Where a memory came from: the conversation, and in it the very words as far as they are known."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from recollectum.domain.citation import Citation
from recollectum.domain.errors import NotFound
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message
from recollectum.domain.proposal import Span
from recollectum.doors.console.visiting import ROOT
from recollectum.doors.console.words import spanned
from recollectum.vault.vault import Vault

_MOST = 50
_AROUND = 240
_WORDS = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Origin:
    """One message that a memory came from, with its words in pieces."""

    href: str
    speaker: str
    message: Message
    pieces: list[tuple[str, bool]]


def origins_of(vault: Vault, memory: Memory) -> list[Origin]:
    """The words behind a memory; none when it was written down by hand, or they are gone."""
    found: list[Origin] = []
    for place in vault.citations(memory.id)[:_MOST]:
        message = _message(vault, place)
        if message is None or not message.text:
            # What an agent saved by a tool has a message without words behind it.
            continue
        found.append(
            _origin(message, Span(message.id, place.start, place.end) if place.exact else _closest(memory, message))
        )
    return found


def _message(vault: Vault, place: Citation) -> Message | None:
    try:
        said = vault.sessions.get(place.session_id).after(place.position - 1, limit=1)
    except NotFound:
        # Deleted since the places were read.
        return None
    return next((one for one in said if one.id == place.message_id), None)


def _closest(memory: Memory, message: Message) -> Span:
    """The sentence of a message that shares the most words with a memory; all of it when none does."""
    told = {word.casefold() for word in _WORDS.findall(memory.content[:4000])}
    best, start, end = 0, 0, len(message.text)
    for found in _SENTENCE.finditer(message.text[:20_000]):
        shared = len(told & {word.casefold() for word in _WORDS.findall(found[0])})
        if shared > best:
            blank = len(found[0]) - len(found[0].lstrip())
            best, start, end = shared, found.start() + blank, found.end()
    return Span(message.id, start, end)


def _origin(message: Message, span: Span) -> Origin:
    mark = urlencode({"at": message.position, "from": span.start, "to": span.end})
    href = f"{ROOT}/conversations/{message.session_id}?{mark}#m{message.position}"
    first, last = max(0, span.start - _AROUND), min(len(message.text), span.end + _AROUND)
    pieces = spanned(message.text[first:last], span.start - first, span.end - first)
    return Origin(href, message.speaker or message.role.value, message, pieces)
