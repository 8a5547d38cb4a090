"""Everything a vault holds as lines of JSON, one thing to the line, to take elsewhere."""

import json
from collections.abc import Iterator

from recollectum.domain.memory import State
from recollectum.doors.shapes import to_json
from recollectum.vault.vault import Vault

_PAGE = 500
_STATES = (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED)


def export_lines(vault: Vault) -> Iterator[bytes]:
    """A head, then every memory with its versions, every conversation with its messages, and the audit trail."""
    yield _line("vault", {"owner": vault.owner, "at": vault.clock().now, "form": 1})
    yield from _memories(vault)
    yield from _sessions(vault)
    before: int | None = None
    while page := vault.events.page(before=before, limit=_PAGE):
        yield from (_line("event", one) for one in page)
        before = page[-1].number


def _memories(vault: Vault) -> Iterator[bytes]:
    for state in _STATES:
        before: str | None = None
        while page := vault.memories.page(state=state, before=before, limit=_PAGE):
            for memory in page:
                past = vault.memories.history(memory.id).versions[:-1] if state is not State.SOFT_DELETED else ()
                yield _line("memory", memory)
                yield from (_line("version", one) for one in past)
            before = page[-1].id


def _sessions(vault: Vault) -> Iterator[bytes]:
    before: str | None = None
    while page := vault.sessions.page(before=before, limit=_PAGE):
        for session in page:
            yield _line("session", session)
            chat, position = vault.sessions.get(session.id), 0
            while said := chat.after(position, limit=_PAGE):
                yield from (_line("message", one) for one in said)
                position = said[-1].position
        before = page[-1].id


def _line(sort: str, value: object) -> bytes:
    return json.dumps({"type": sort, sort: to_json(value)}).encode() + b"\n"
