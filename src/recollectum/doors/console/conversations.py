"""Shows conversations, with tool calls folded and cited words marked, and the projects that they belong to."""

import json
from typing import TYPE_CHECKING

from starlette.responses import Response

from recollectum.domain.errors import NotFound
from recollectum.domain.files.project import is_project_name
from recollectum.domain.message import Json, Message, Role, ToolCall
from recollectum.domain.records import dataclass
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router
from recollectum.doors.console.rendering import clipped, shown, spanned

if TYPE_CHECKING:
    from recollectum.domain.session import Session
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

router = new_router()
PLACE = f"{ROOT}/conversations"
_PAGE = 30
_MESSAGES = 40
#: How many messages are shown before the target of a link.
_LEAD = 8
_LONGEST = 20_000
#: How many memories and conversations of a project are shown.
_OF_PROJECT = 10


@dataclass(frozen=True, slots=True)
class ToolCallView:
    """An expanded tool call."""

    call: ToolCall
    args: str
    result: str


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message with its text in pieces; cited pieces are marked."""

    message: Message
    speaker: str
    pieces: list[tuple[str, bool]]
    calls: list[ToolCallView]
    thoughts: list[str]
    #: Tool results, warnings and system texts are folded.
    folded: bool


@router.get(PLACE)
def listed(visit: CurrentVisit, before: str = "") -> Response:
    """Show the newest conversations."""
    found = visit.vault.sessions.list(cursor=before or None, limit=_PAGE)
    values = {
        "sessions": [(one, _first_words(visit.vault, one)) for one in found],
        "more": found.next or "",
        "before": before,
    }
    return visit.page("conversations.html", values)


@router.get(PLACE + "/{session_id}")
def one(
    visit: CurrentVisit, session_id: str, at: int | None = None, after: int | None = None, before: int | None = None
) -> Response:
    """Show one conversation: from its end, from a position, or around cited words."""
    chat = visit.vault.sessions.chat(session_id)
    session = chat.info()
    messages = _chosen(chat, at, after, before)
    span = _span(visit.request.query_params.get("from"), visit.request.query_params.get("to"))
    said = [_message_view(message, span if message.position == at else None) for message in messages]
    values = {
        "session": session,
        "said": said,
        "at": at,
        "earlier": messages[0].position if messages and messages[0].position > 1 else 0,
        "later": messages[-1].position if messages and messages[-1].position < session.message_count else 0,
    }
    return visit.page("conversation.html", values)


@router.get(f"{ROOT}/projects")
def projects(visit: CurrentVisit) -> Response:
    """Show the projects with how much belongs to each."""
    return visit.page("projects.html", {"projects": visit.vault.projects.list()})


@router.get(f"{ROOT}/projects/{{name}}")
def project(visit: CurrentVisit, name: str) -> Response:
    """Show one project: where it is, and what belongs to it."""
    if not is_project_name(name):
        raise NotFound("there is no such project in this vault")
    known = visit.vault.projects
    found = known.get(name)
    values = {
        "project": found.project,
        "counts": found.counts,
        "memories": known.list_memories(found.project.id, limit=_OF_PROJECT),
        "sessions": known.list_sessions(found.project.id, limit=_OF_PROJECT),
        "checkpoints": known.list_checkpoints(found.project.id),
    }
    return visit.page("project.html", values)


def _chosen(chat: "Chat", at: int | None, after: int | None, before: int | None) -> list[Message]:
    if at is not None:
        return chat.transcript(cursor=str(max(0, min(at, 2**40) - _LEAD)), limit=_MESSAGES)
    if after is not None:
        return chat.transcript(cursor=str(max(0, min(after, 2**40))), limit=_MESSAGES)
    return chat.messages(cursor=None if before is None else str(before), limit=_MESSAGES)


def _span(start: str | None, end: str | None) -> tuple[int, int] | None:
    if start is None or end is None or not start.isdecimal() or not end.isdecimal():
        return None
    return int(start[:9]), int(end[:9])


def _message_view(message: Message, span: tuple[int, int] | None) -> MessageView:
    pieces = spanned(message.text, *span) if span else [(shown(message.text), False)]
    return MessageView(
        message=message,
        speaker=shown(message.speaker or message.role.value),
        pieces=pieces if message.text else [],
        calls=[ToolCallView(call, _spelled(call.args), _spelled(call.result)) for call in message.tool_calls],
        thoughts=[_spelled(thought) for thought in message.thoughts],
        folded=span is None and message.role not in (Role.USER, Role.ASSISTANT),
    )


def _spelled(value: Json) -> str:
    """Return readable JSON, cut when it is too long."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "\n…"
    return shown(cut)


def _first_words(vault: "Vault", session: "Session") -> str:
    if session.summary:
        return clipped(session.summary, 200)
    first = vault.sessions.chat(session.id).transcript(limit=1)
    return clipped(first[0].text, 200) if first else ""
