"""`/v1/sessions`: opens, lists, reads, extends and ends conversations."""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.errors import NotFound
from recollectum.domain.files.project import ListedProject, Project, ProjectCounts
from recollectum.domain.message import Message, ToolCall, ToolStatus
from recollectum.domain.notice import Notice
from recollectum.domain.session import Checkpoint, Session
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.preconditions import StoredResult, noted, request_fingerprint, run_once
from recollectum.doors.rest.requests import (
    AddMessage,
    EndSession,
    IdempotencyKey,
    IdPath,
    OpenSession,
    OwnerQuery,
    parse_optional_time,
)
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_cursor,
    decode_row_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

router = APIRouter(route_class=KeyedRoute, tags=["sessions"])
_ONE = {"session": Session}
_MESSAGE_PAGE = {"messages": list[Message], "next": str | None}
_LIST, _MESSAGES = "sessions", "messages"


@router.get("/v1/sessions", responses=describe_responses({"sessions": list[Session], "next": str | None}))
def list_sessions(
    request: Request,
    key_prefix: Annotated[str | None, Query(max_length=500)] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the newest conversations, all or those whose key begins with a text."""
    place = decode_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).sessions.list(cursor=place, key_prefix=key_prefix, limit=limit)
    following = encode_cursor(_LIST, found.next)
    return json_response({"sessions": found, "next": following})


@router.post("/v1/sessions", responses=describe_responses({"session": Session, "notice": Notice}))
def open_session(
    request: Request, body: OpenSession, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Resume the conversation of a channel and agent, or start one."""
    visitor = visitor_of(request)
    sessions = visitor.vault(owner).sessions
    # The answer shows a conversation that may be an old one: refused here, before one begins, to who may not read it.
    sessions.list(limit=1)

    def work() -> tuple[StoredResult, Session]:
        chat = sessions.open(
            channel=body.channel, agent=body.agent, group=body.group, topic=body.topic, project=body.project
        )
        return {"id": chat.id, "notice": to_json(chat.notice)}, chat.info()

    def again(done: StoredResult) -> Session:
        return sessions.get(str(done["id"]))

    def show(done: StoredResult, session: Session) -> Response:
        return json_response({"session": session, "notice": noted(done)})

    fingerprint = request_fingerprint("open", body.model_dump_json(), owner)
    return run_once(visitor, idempotency_key, fingerprint, work, again, show)


@router.get("/v1/sessions/{session_id}", responses=describe_responses(_ONE))
def get_session(request: Request, session_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Return one conversation, without its messages."""
    return json_response({"session": visitor_of(request).vault(owner).sessions.get(session_id)})


@router.get("/v1/sessions/{session_id}/messages", responses=describe_responses(_MESSAGE_PAGE))
def list_messages(
    request: Request, session_id: IdPath, limit: Limit = 50, cursor: CursorQuery = None, owner: OwnerQuery = None
) -> Response:
    """List the last messages of a conversation in order; `next` leads to earlier ones."""
    place = decode_row_cursor(_MESSAGES, cursor)
    found = visitor_of(request).vault(owner).sessions.chat(session_id).messages(cursor=place, limit=limit)
    following = encode_cursor(_MESSAGES, found.next)
    return json_response({"messages": found, "next": following})


@router.post("/v1/sessions/{session_id}/messages", responses=describe_responses({"message": Message, "notice": Notice}))
def add_message(
    request: Request,
    session_id: IdPath,
    body: AddMessage,
    owner: OwnerQuery = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record one message; the same native id or idempotency key again changes nothing.

    `notice` says how many secrets were replaced, and how many characters at the end of a long text are not searched.
    """
    visitor = visitor_of(request)
    chat = visitor.vault(owner).sessions.chat(session_id)

    def work() -> tuple[StoredResult, Message]:
        message = chat.add(
            body.role,
            body.content,
            native_id=body.native_id or _native_id(idempotency_key, body),
            model=body.model,
            speaker=body.speaker,
            at=parse_optional_time(body.at),
            tool_calls=[
                ToolCall(id=call.id, name=call.name, args=call.args, result=call.result, status=ToolStatus(call.status))
                for call in body.tool_calls
            ],
        )
        return {"id": message.id, "position": message.position, "notice": to_json(message.notice)}, message

    def again(done: StoredResult) -> Message:
        position = done["position"]
        found = chat.transcript(cursor=str(position - 1), limit=1) if isinstance(position, int) else None
        if not found:
            raise NotFound("that message no longer exists")
        return found[0]

    def show(done: StoredResult, message: Message) -> Response:
        return json_response({"message": message, "notice": noted(done)})

    fingerprint = request_fingerprint(f"message {session_id}", body.model_dump_json(), owner)
    return run_once(visitor, idempotency_key, fingerprint, work, again, show)


@router.patch("/v1/sessions/{session_id}", responses=describe_responses(_ONE))
def end_session(request: Request, session_id: IdPath, body: EndSession, owner: OwnerQuery = None) -> Response:
    """End a conversation with `ended`; the next message in its channel starts a new one. Again, it changes nothing."""
    del body  # Its only field has only one value.
    return json_response({"session": visitor_of(request).vault(owner).sessions.chat(session_id).end()})


def _native_id(key: str | None, body: AddMessage) -> str | None:
    """Return the native id of a message with an idempotency key, so that a retry after a crash finds it."""
    if key is None:
        return None
    return "once:" + hashlib.sha256(f"{key}\n{body.model_dump_json()}".encode("utf-8", "replace")).hexdigest()


projects_router = APIRouter(route_class=KeyedRoute, tags=["projects"])
_PROJECT = {"project": Project, "counts": ProjectCounts, "sessions": list[Session], "checkpoints": list[Checkpoint]}
_NEWEST = 20


@projects_router.get("/v1/projects", responses=describe_responses({"projects": list[ListedProject]}))
def list_projects(request: Request, owner: OwnerQuery = None) -> Response:
    """List the projects by name, with how much belongs to each."""
    return json_response({"projects": visitor_of(request).vault(owner).projects.list()})


@projects_router.get("/v1/projects/{project}", responses=describe_responses(_PROJECT))
def get_project(request: Request, project: IdPath, owner: OwnerQuery = None) -> Response:
    """Return a project with its newest conversations and its checkpoints."""
    projects = visitor_of(request).vault(owner).projects
    found = next((one for one in projects.list() if project == one.project.name or project in one.project.ids), None)
    if found is None:
        raise NotFound("there is no such project in this vault")
    return json_response(
        {
            "project": found.project,
            "counts": found.counts,
            "sessions": projects.list_sessions(found.project.id, limit=_NEWEST),
            "checkpoints": projects.list_checkpoints(found.project.id),
        }
    )
