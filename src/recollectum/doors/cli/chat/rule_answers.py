"""Answers a line of a chat without a model: from memory, from what was said before, or that nothing is close."""

import re
from typing import TYPE_CHECKING

from recollectum.domain.hit import Hit, SourceKind
from recollectum.domain.message import Message
from recollectum.domain.trust import Trust
from recollectum.text.wishes import is_request

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

NOTED = "Noted for this conversation; /remember TEXT keeps it for all others."
NOTHING = "Nothing close to that is known. Tell me, or save it with /remember TEXT."
#: The chance of being relevant below which a text is no answer: a wrong answer is worse than none.
_LEAST_SCORE = 0.2
_MOST_ANSWERS = 3
#: How many of the hits in conversations are looked at: questions and replies rank high among them.
_LOOKED_AT = 20
#: A line with fewer words is taken for a search.
_LEAST_STATEMENT = 3
_ASKS = re.compile(
    r"\W*(?:who|whom|whose|what|where|when|why|how|which|is|are|am|was|were|do|does|did|can|could|will|would|should"
    r"|have|has|had|tell|show|find|remind|search|list"
    r"|wer|wen|wem|was|wo|wann|warum|wie|welche[rsnm]?|bin|ist|sind|habe|hat|kann|kannst"
    r"|qui|que|quoi|où|quand|pourquoi|comment|quel(?:le)?s?|quién|qué|dónde|cuándo|cómo|cuál|chi|che|dove|perché"
    r")(?:['’]\w+)?\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|I['’]\w+|my|we|our|ich|mein\w*|wir|je|j['’]|mon|ma|mes|yo|mi|io|mio|mia)\b", re.IGNORECASE
)


def answer_by_rules(vault: "Vault", heard: Message) -> str:
    """Return the texts that answer what was just heard, or what was done with it."""
    text = heard.text
    if is_statement(text) and not is_question(text):
        return NOTED
    found = _answers(vault, heard)
    if found:
        return "\n".join(found)
    return NOTED if not is_question(text) and len(text.split()) >= _LEAST_STATEMENT else NOTHING


def is_question(text: str) -> bool:
    """Return whether a line asks for something, by its first word or its mark."""
    return text.rstrip().endswith(("?", "？")) or _ASKS.match(text) is not None or is_request(text)


def is_statement(text: str) -> bool:
    """Return whether a line tells something: it is a sentence, or about its speaker."""
    ends = text.rstrip().endswith((".", "!", "。"))
    return len(text.split()) >= _LEAST_STATEMENT and (ends or _FIRST_PERSON.search(text) is not None)


def _answers(vault: "Vault", heard: Message) -> list[str]:
    kept = [
        (hit.score, f"- {_flat(hit)} ({hit.created_at.astimezone().date()}, trust: {hit.trust})", _flat(hit))
        for source in (SourceKind.MEMORIES, SourceKind.NOTES)
        for hit in _close(vault, heard.text, source)
    ]
    said = [
        (hit.score, f"- {_flat(hit)} ({_when_said(hit, heard)})", _flat(hit))
        for hit in _close(vault, heard.text, SourceKind.SESSIONS)
        if hit.trust is Trust.OWNER and is_statement(hit.text) and not is_question(hit.text)
    ]
    shown: dict[str, str] = {}
    # A memory is named before the sentence that it came from.
    for _, line, text in sorted([*kept, *said], key=lambda one: -one[0]):
        shown.setdefault(text.casefold().rstrip("."), line)
    return list(shown.values())[:_MOST_ANSWERS]


def _close(vault: "Vault", query: str, source: SourceKind) -> list[Hit]:
    found = vault.recall(query, limit=_LOOKED_AT, source=source)
    if found.calibrated:
        return [hit for hit in found if hit.score >= _LEAST_SCORE]
    # Such scores say nothing between questions; a word in common does.
    return [hit for hit in found if hit.reasons.text_rank is not None]


def _when_said(hit: Hit, heard: Message) -> str:
    if hit.source.session_id == heard.session_id:
        return "you said so in this conversation"
    return f"you said so on {hit.created_at.astimezone().date()}"


def _flat(hit: Hit) -> str:
    return " ".join(hit.text.split())
