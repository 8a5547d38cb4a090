"""Implements the tools of the default profile."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from recollectum.domain.context import RecalledText
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.memory import Kind, State
from recollectum.domain.trust import Trust
from recollectum.doors.json_values import to_json
from recollectum.doors.mcp.client import McpClient
from recollectum.doors.mcp.results import (
    ConfirmationQuestion,
    ToolAnswer,
    fence_texts,
    hit_json,
    hit_text,
    memory_json,
    memory_text,
    message_json,
    message_text,
    notice_sentences,
    session_json,
)

Arguments = Mapping[str, Any]
ToolResult = ToolAnswer | ConfirmationQuestion
ToolFunction = Callable[[McpClient, Arguments], ToolResult]

_HITS = 10
_LISTED = 20
_SHOWN = 300
_ARCHIVED = "`list` with state archived shows them, and the person can bring one back: recollectum memories restore ID"
_ABOUT_PERSON = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.PROJECT, Kind.TASK})


def remember(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Save one fact verbatim."""
    minutes = given.get("ttl_minutes")
    saved = guest.vault.memories.save(
        given["content"],
        key=given.get("key"),
        kind=given.get("kind", "fact"),
        importance=given.get("importance", 0.5),
        ttl=None if minutes is None else timedelta(minutes=minutes),
        project=given.get("project"),
        said_by=guest.tool_use("remember"),
    )
    document = {"outcome": saved.outcome, "memory": memory_json(saved.memory), "notice": to_json(saved.notice)}
    return ToolAnswer(" ".join((f"Remembered as {saved.id}.", *notice_sentences(saved.notice))), document)


def recall(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return what the vault knows about a query."""
    least = given.get("min_score")
    hits = guest.vault.recall(
        given["query"],
        limit=given.get("limit", _HITS),
        tokens=given.get("tokens"),
        source=given.get("source"),
        session_id=given.get("session_id"),
        kind=given.get("kind"),
        agent=given.get("agent"),
        since=_time(given, "since"),
        until=_time(given, "until"),
        min_score=least,
        answers_only=least is None,
        project=given.get("project"),
        prefer_project=None if "project" in given else _project_at(guest, given),
    )
    shown = fence_texts([hit_text(hit) for hit in hits], "Nothing is known about that.")
    archived = hits.archived
    if archived.count:
        shown += f"\n{archived.words}; {_ARCHIVED}"
    found = {
        "hits": [hit_json(hit) for hit in hits],
        "degraded": hits.degraded,
        "calibrated": hits.calibrated,
        "archived": {"count": archived.count, "cut": archived.cut, "ids": list(archived.ids)},
    }
    return ToolAnswer(shown, found)


def context(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return the context that a model should see before it answers."""
    made = guest.vault.context(
        given.get("query", ""),
        session_id=given.get("session_id"),
        tokens=given.get("tokens"),
        # A session knows its project.
        project=given.get("project") or (None if "session_id" in given else _project_at(guest, given)),
        all_projects=given.get("all_projects", False),
    )
    return ToolAnswer(made.whole or "Nothing is known yet.", {"text": made.whole, "tokens": made.tokens})


def list_memories(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return the newest memories in one state."""
    limit = given.get("limit", _LISTED)
    state = given.get("state", State.ACTIVE.value)
    found = guest.vault.memories.list(state=state, kind=given.get("kind"), cursor=given.get("before"), limit=limit)
    shown = fence_texts([memory_text(one) for one in found], f"No memories are {state}.")
    return ToolAnswer(shown, {"memories": [memory_json(one) for one in found], "next": found.next})


def forget(guest: McpClient, given: Arguments) -> ToolResult:
    """Forget a memory, after the person has agreed."""
    vault, memory_id = guest.vault, given["id"]
    memory = vault.memories.get(memory_id)
    token = given.get("confirm")
    if token is None:
        return _ask(guest, memory_id, memory.content, guest.confirmations.give(vault, memory))
    guest.confirmations.check(vault, memory, token)
    gone = vault.memories.forget(memory_id)
    until = None if gone.hard_delete_at is None else gone.hard_delete_at.isoformat()
    said = f"Forgotten: {memory_id}. The person can restore it until {until}."
    return ToolAnswer(said, {"status": "forgotten", "id": memory_id, "restorable_until": until})


def kept_answer(memory_id: str) -> ToolAnswer:
    """Return the answer for a person who did not agree."""
    return ToolAnswer(f"The person did not agree; {memory_id} is kept.", {"status": "kept", "id": memory_id})


def sessions(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return the newest conversations, or the last messages of one."""
    limit = given.get("limit", _LISTED)
    if "session_id" in given:
        chat = guest.vault.sessions.chat(given["session_id"])
        said = chat.messages(limit=limit)
        shown = fence_texts([message_text(one) for one in said], "That conversation has no messages.")
        return ToolAnswer(
            shown, {"sessions": [session_json(chat.info())], "messages": [message_json(one) for one in said]}
        )
    found = guest.vault.sessions.list(cursor=given.get("before"), limit=limit)
    lines = [f"{one.id} · {one.updated_at.date()} · {one.message_count} messages" for one in found]
    shown = "\n".join(lines) or "There are no conversations."
    return ToolAnswer(shown, {"sessions": [session_json(one) for one in found], "messages": []})


TOOLS: Mapping[str, ToolFunction] = {
    "remember": remember,
    "recall": recall,
    "context": context,
    "list": list_memories,
    "forget": forget,
    "sessions": sessions,
}


def read_profile(guest: McpClient) -> str:
    """Return the person's profile and the newest memories of agents as a fenced text."""
    profile = guest.vault.admin.profile.find()
    bullets = profile.bullets if profile else ()
    texts = [text for bullet in bullets for text in _bullet_texts(guest, bullet.memory_ids)]
    # The profile contains only what the person said. The label of each text shows who wrote it.
    newest = guest.vault.memories.list(limit=_LISTED)
    texts += [memory_text(one) for one in newest if one.trust is Trust.ASSISTANT and one.kind in _ABOUT_PERSON]
    return fence_texts(texts, "Nothing is known about the person yet.")


def _project_at(guest: McpClient, given: Arguments) -> str | None:
    """Return the id of the project at the client's folder, or None."""
    folder = given.get("folder")
    found = guest.vault.projects.find(folder) if folder is not None else None
    return found.id if found and found.name else None


def _bullet_texts(guest: McpClient, ids: tuple[str, ...]) -> list[RecalledText]:
    texts: list[RecalledText] = []
    for one in ids:
        with suppress(NotFound):
            texts.append(memory_text(guest.vault.memories.get(one)))
    return texts


def _ask(guest: McpClient, memory_id: str, content: str, token: str) -> ConfirmationQuestion:
    begun = " ".join(content[:_SHOWN].split())
    needed = ToolAnswer(
        f"Nothing was forgotten yet. Ask the person whether to forget {memory_id}; if they agree, call forget "
        f"again with confirm={token}. It is valid for ten minutes.",
        {"status": "confirmation_needed", "id": memory_id, "token": token},
    )
    return ConfirmationQuestion(f"{guest.agent} wants to forget this memory: {begun!r}. Forget it?", token, needed)


def _time(given: Arguments, name: str) -> datetime | None:
    text = given.get(name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{name!r} is not a time; write 2026-11-15 or 2026-11-15T10:30Z") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
