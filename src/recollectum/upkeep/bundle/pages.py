"""Writes memories and conversations as Markdown, for people; a bundle is imported from its JSON lines."""

from collections.abc import Iterator
from datetime import datetime

from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Message
from recollectum.domain.session import Session
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, messages, sessions

#: Rows per read.
_PAGE = 500


def memory_page(tx: Tx) -> Iterator[bytes]:
    """Yield the page of all memories, oldest first."""
    yield b"# Memories\n"
    for _, memory in memories.everything(tx):
        yield f"\n{_memory(memory)}\n".encode()


def conversation_pages(tx: Tx) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the file name and the page of each conversation, newest first."""
    before: str | None = None
    while page := sessions.page(tx, before=before, prefix=None, limit=_PAGE):
        for session in page:
            yield f"{session.id}.md", _conversation(tx, session)
        before = page[-1].id


def _conversation(tx: Tx, session: Session) -> Iterator[bytes]:
    title = _one_line(session.title or "Conversation")
    yield f"# {title}\n\n{session.key}, from {_time(session.created_at)}\n".encode()
    position = -1
    while page := messages.after(tx, session.id, position, _PAGE):
        for message in page:
            yield f"\n{_message(message)}\n".encode()
        position = page[-1].position


def _memory(memory: Memory) -> str:
    notes = [memory.kind.value, _time(memory.created_at)]
    notes += [f"key {_one_line(memory.key)}"] if memory.key else []
    notes += [memory.state.value] if memory.state is not State.ACTIVE else []
    return f"- {_indented(memory.content)}\n  ({', '.join(notes)}; {memory.id})"


def _message(message: Message) -> str:
    who = message.speaker or message.role.value
    when = f", {_time(message.created_at)}" if message.created_at else ""
    calls = "".join(f"\n\n(called {_one_line(call.name)})" for call in message.tool_calls)
    return f"## {_one_line(who)}{when}\n\n{message.text}{calls}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _one_line(text: str) -> str:
    return " ".join(text.split())
