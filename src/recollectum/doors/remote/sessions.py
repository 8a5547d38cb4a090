"""The conversations of a vault on a server: listed, read, extended, ended and exported."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Message, ToolCall, text_of
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.page import Page
from recollectum.domain.session import MAIN, Session, SessionKey, SessionKind
from recollectum.doors.json_values import to_json
from recollectum.doors.remote.decoding import decode
from recollectum.doors.remote.link import ServerLink
from recollectum.doors.remote.pages import load_page
from recollectum.vault.intake.new_message import NewMessage


class ServedSessions:
    """The conversations of one vault."""

    def __init__(self, link: ServerLink, query: Mapping[str, object]) -> None:
        self._link = link
        self._query = query

    def list(self, *, key_prefix: str | None = None, cursor: str | None = None, limit: int = 50) -> Page[Session]:
        """List the newest conversations, all or those whose key begins with a text."""
        query = {**self._query, "key_prefix": key_prefix}
        return load_page(self._link, "/v1/sessions", "sessions", Session, query, cursor=cursor, limit=limit)

    def get(self, session_id: str) -> Session:
        """Return one conversation, without its messages."""
        return decode(Session, self._link.get(_path(session_id), self._query).get("session"), "a session")

    def chat(self, session_id: str) -> "ServedChat":
        """Return the conversation with that id, to read and to add to; raise when there is none."""
        return ServedChat(self._link, self._query, self.get(session_id))

    def open(
        self,
        *,
        channel: str = MAIN,
        agent: str = MAIN,
        group: str | None = None,
        topic: str | None = None,
        hook: str | None = None,
    ) -> "ServedChat":
        """Resume the conversation of a place, or start it."""
        if hook is not None:
            raise InvalidInput("a server opens no session of a hook; name a channel, an agent, a group or a topic")
        place = {"channel": channel, "agent": agent, "group": group, "topic": topic}
        body = {name: value for name, value in place.items() if value is not None}
        found = self._link.ask("POST", "/v1/sessions", self._query, body)
        session = decode(Session, found.get("session"), "a session")
        return ServedChat(self._link, self._query, session, _notice(found))

    def open_key(self, key: SessionKey, *, project: str | None = None) -> "ServedChat":
        """Resume the conversation of a key, or start it; a folder of this machine means nothing to a server."""
        del project
        if key.kind is SessionKind.CRON:
            raise InvalidInput("a server opens no session of a job")
        group = key.name if key.kind is SessionKind.GROUP else None
        hook = key.name if key.kind is SessionKind.HOOK else None
        return self.open(channel=key.channel, agent=key.agent, group=group, topic=key.topic, hook=hook)

    def export(self, session_id: str) -> Iterator[bytes]:
        """Yield the lines of the transcript of one conversation."""
        return self._link.lines(f"/v1/exports/sessions/{quote(session_id, safe='')}", self._query)

    def export_memories(self) -> Iterator[bytes]:
        """Yield every active or archived memory as a line of JSON."""
        return self._link.lines("/v1/exports/memories", self._query)


class ServedChat:
    """One conversation on a server."""

    def __init__(
        self, link: ServerLink, query: Mapping[str, object], session: Session, notice: Notice = NO_NOTICE
    ) -> None:
        self._link = link
        self._query = query
        self._session = session
        #: What opening it did to its texts.
        self.notice = notice

    @property
    def id(self) -> str:
        """The id of the conversation."""
        return self._session.id

    def info(self) -> Session:
        """Return the conversation, without its messages."""
        return self._session

    def messages(self, *, cursor: str | None = None, limit: int = 50) -> Page[Message]:
        """Return the last messages in order; the cursor leads to earlier ones."""
        path = f"{_path(self.id)}/messages"
        return load_page(
            self._link, path, "messages", Message, self._query, cursor=cursor, limit=limit, newest_last=True
        )

    def add_many(self, said: Iterable[NewMessage]) -> list[Message]:
        """Record messages, each by one request; the same native id again changes nothing."""
        return [self._add(one) for one in said]

    def end(self) -> Session:
        """End the conversation; the next message in its channel starts a new one."""
        found = self._link.ask("PATCH", _path(self.id), self._query, {"ended": True})
        return decode(Session, found.get("session"), "a session")

    def _add(self, said: NewMessage) -> Message:
        content = said.content if isinstance(said.content, str) else text_of(tuple(said.content))
        body: dict[str, object] = {"role": str(said.role), "content": content}
        more = {"native_id": said.native_id, "model": said.model, "speaker": said.speaker, "at": said.at}
        body |= {name: to_json(value) for name, value in more.items() if value}
        if said.tool_calls:
            body["tool_calls"] = [_call(one) for one in said.tool_calls]
        found = self._link.ask("POST", f"{_path(self.id)}/messages", self._query, body)
        return replace(decode(Message, found.get("message"), "a message"), notice=_notice(found))


def _call(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id,
        "name": call.name,
        "args": to_json(call.args),
        "result": to_json(call.result),
        "status": call.status.value,
    }


def _notice(found: Mapping[str, object]) -> Notice:
    return decode(Notice, found.get("notice", {}), "a notice")


def _path(session_id: str) -> str:
    if not session_id:
        raise InvalidInput("the id is empty; give the id of a session")
    return f"/v1/sessions/{quote(session_id, safe='')}"
