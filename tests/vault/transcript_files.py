"""Transcripts as other programs write them, and what a vault made of them."""

import json
from collections.abc import Iterable
from pathlib import Path

from recollectum.vault.vault import Vault

CONVERSATION = "1b0f1810-57b3-4367-9a53-fa2186416311"


def said(number: int, text: str | None = None, conversation: str = CONVERSATION) -> bytes:
    """One line of Claude Code's: message `number`, from the person and the model by turns."""
    role = "assistant" if number % 2 else "user"
    line = {
        "type": role,
        "uuid": f"uuid-{number}",
        "parentUuid": f"uuid-{number - 1}",
        "sessionId": conversation,
        "timestamp": f"2026-02-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": {"role": role, "content": text or f"remark{number} about teal"},
    }
    return json.dumps(line).encode() + b"\n"


def lines(numbers: Iterable[int], conversation: str = CONVERSATION) -> bytes:
    """Several of them."""
    return b"".join(said(number, conversation=conversation) for number in numbers)


def append(path: Path, data: bytes) -> Path:
    """Let the file grow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)
    return path


def kept(vault: Vault) -> list[str]:
    """The first word of every message in the vault, session by session, oldest first."""
    sessions = reversed(vault.sessions.list(limit=1000))
    found = (message for session in sessions for message in vault.sessions.chat(session.id).transcript(limit=1000))
    return [message.text.split()[0] if message.text else "" for message in found]


def remarks(numbers: Iterable[int]) -> list[str]:
    """What `kept` says of those messages."""
    return [f"remark{number}" for number in numbers]
