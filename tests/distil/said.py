"""Conversations and memories for the tests of distilling, short to write by hand."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json, Message, Role, trust_of_role
from recollectum.domain.models.language_model import Prompt
from recollectum.domain.trust import Trust

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROLES = {"u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL, "s": Role.SYSTEM}
_SHOWN = re.compile(r"^\[(\d+)\] \w+(?: \([^)\n]*\))?, [^\n]*\n((?:\|[^\n]*\n)*)", re.MULTILINE)


def said(*lines: str) -> list[Message]:
    """One message a line: `u: I live in Oslo`."""
    return [message(number, line[0], line[3:]) for number, line in enumerate(lines, start=1)]


def message(position: int, letter: str, text: str, trust: Trust | None = None) -> Message:
    role = ROLES[letter]
    return Message(
        id=f"msg_{position}",
        session_id="ses_1",
        position=position,
        role=role,
        content=text,
        created_at=AT + timedelta(minutes=position),
        trust=trust or trust_of_role(role),
    )


def memory(
    id: str,
    content: str,
    *,
    kind: Kind = Kind.FACT,
    importance: float = 0.5,
    days: int = 0,
    trust: Trust = Trust.OWNER,
    superseded_by: str | None = None,
    key: str | None = None,
) -> Memory:
    at = AT + timedelta(days=days)
    return Memory(
        id=id,
        content=content,
        created_at=at,
        updated_at=at,
        kind=kind,
        importance=importance,
        trust=trust,
        superseded_by=superseded_by,
        key=key,
    )


def answer(
    content: str, *quotes: tuple[int, str], act: str = "add", target: int | None = None, kind: str = "fact"
) -> dict[str, Json]:
    """One finding as a model writes it."""
    return {
        "act": act,
        "content": content,
        "kind": kind,
        "importance": 0.7,
        "quotes": [{"message": number, "text": text} for number, text in quotes],
        "target": target,
        "reason": "It lasts.",
    }


def answers(*found: dict[str, Json]) -> dict[str, Json]:
    return {"findings": list(found)}


def shown(prompt: Prompt) -> list[tuple[int, str]]:
    """The messages that a prompt shows, with their numbers."""
    text = prompt.turns[0].text
    block = text[text.index("<conversation-") :]
    return [
        (int(number), "\n".join(line[2:] for line in lines.splitlines())) for number, lines in _SHOWN.findall(block)
    ]


def every_sentence(prompt: Prompt) -> dict[str, Json]:
    """What a model answers that takes every sentence for a fact."""
    return answers(*_each(shown(prompt)))


def _each(messages: Iterable[tuple[int, str]]) -> Iterable[dict[str, Json]]:
    for number, text in messages:
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
            if sentence.strip():
                yield answer(sentence.strip(), (number, sentence.strip()))
