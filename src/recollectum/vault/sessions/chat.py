"""Adds messages to one open session and reads them back."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.message import Json, Message, Part, RoleName, TokenCount, ToolCall
from recollectum.domain.notice import Notice
from recollectum.domain.page import Cursor, Page, cut_page, number_of
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, sessions
from recollectum.storage.tables.trail import events
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedCall, AdmittedMessage, AdmittedText
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_session_secrets
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.messages import append_new_messages, get_session, prune_hook_sessions, set_call
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService


class Chat(VaultService):
    """One session, open for reading and appending."""

    def __init__(self, runtime: VaultRuntime, session: Session) -> None:
        super().__init__(runtime.for_session(session.id))
        self.id: str = session.id
        self.key: SessionKey = session.key
        #: What opening it did to the names of its group and topic.
        self.notice: Notice = session.notice

    @operation(Action.SESSION_WRITE, Scope.SESSION)
    def add(
        self,
        role: RoleName,
        content: str | Iterable[Part],
        *,
        native_id: str | None = None,
        tool_calls: Iterable[ToolCall] = (),
        thoughts: Iterable[Part] = (),
        tokens: TokenCount | None = None,
        model: str | None = None,
        speaker: str | None = None,
        at: datetime | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> Message:
        """Record one message. The same native id again changes nothing and returns the first message.

        Text that memory served is cut out, and `extra["echo_removed"]` counts the cuts; a message that contains nothing
        else is refused.
        """
        said = NewMessage(
            role=role,
            content=content,
            native_id=native_id,
            tool_calls=tuple(tool_calls),
            thoughts=tuple(thoughts),
            tokens=tokens,
            model=model,
            speaker=speaker,
            at=at,
            extra=extra,
        )
        added = self._add([said])
        if not added:
            raise InvalidInput("the message only repeats text that memory served, so it was not recorded")
        return added[0]

    @operation(Action.SESSION_WRITE, Scope.SESSION)
    def add_many(self, said: Iterable[NewMessage]) -> list[Message]:
        """Record several messages in one transaction: all of them, or none. Echoes of memory are left out."""
        return self._add(said)

    @operation(Action.SESSION_READ, Scope.SESSION)
    def info(self) -> Session:
        """Return the session in its current state."""
        return self._runtime.read(lambda tx, _: get_session(tx, self.id))

    @operation(Action.SESSION_READ, Scope.SESSION)
    def messages(self, *, cursor: str | None = None, limit: int = 50) -> Page[Message]:
        """Return the last messages, in order; `next` leads to earlier ones."""
        size = check_limit(limit, MAX_PAGE)
        before = number_of(cursor)
        found = self._runtime.read(lambda tx, _: messages.latest(tx, self.id, before=before, limit=size + 1))
        shown = found[-size:]
        return Page(shown, Cursor(str(shown[0].position)) if len(found) > size else None)

    @operation(Action.SESSION_READ, Scope.SESSION)
    def transcript(self, *, cursor: str | None = None, limit: int = 500) -> Page[Message]:
        """Return the messages from the first on, in order; `next` leads to later ones."""
        size = check_limit(limit, MAX_PAGE)
        after = number_of(cursor) or 0
        found = self._runtime.read(lambda tx, _: messages.after(tx, self.id, after, size + 1))
        return cut_page(found, size, lambda one: one.position)

    @operation(Action.SESSION_READ, Scope.SESSION)
    def window(self, turns: int = 30) -> list[Message]:
        """Return the last turns complete: from a user's message to the end, tool calls with their results."""
        size = check_limit(turns, MAX_PAGE, "turns")

        def load(tx: Tx, _: ClockReading) -> list[Message]:
            start = messages.turn_start(tx, self.id, size)
            return messages.after(tx, self.id, start - 1, 100_000)

        return self._runtime.read(load)

    @operation(Action.SESSION_WRITE, Scope.SESSION, reads=True)
    def record_call(self, message_id: str, call: ToolCall) -> Message:
        """Record a tool call: a new one, or the result of a pending one."""

        def change(tx: Tx, call: AdmittedCall) -> Message:
            message = messages.find(tx, message_id)
            if message is None or message.session_id != self.id:
                raise NotFound(f"there is no message {message_id!r} in session {self.id!r}")
            return set_call(tx, message, call)

        with Intake(self._runtime) as intake:
            admitted = intake.call(call)
            changed = self._runtime.write(lambda tx, _: change(tx, admitted))
            return replace(changed, notice=intake.notice)

    @operation(Action.SESSION_WRITE, Scope.SESSION, reads=True)
    def describe(self, *, title: str | None = None, summary: str | None = None) -> Session:
        """Set the session's title or summary."""

        def change(tx: Tx, reading: ClockReading, title: AdmittedText | None, summary: AdmittedText | None) -> Session:
            session = get_session(tx, self.id)
            described = replace(
                session,
                title=session.title if title is None else title,
                summary=session.summary if summary is None else summary,
                updated_at=max(session.updated_at, reading.now),
            )
            sessions.describe(tx, described)
            # The previous title may have referred to a stored secret.
            queue_session_secrets(tx, session)
            return described

        with Intake(self._runtime) as intake:
            titled, summed = (None if one is None else intake.text(one) for one in (title, summary))
            described = self._runtime.write(lambda tx, reading: change(tx, reading, titled, summed))
            return replace(described, notice=intake.notice)

    @operation(Action.SESSION_WRITE, Scope.SESSION, reads=True)
    def end(self) -> Session:
        """End the session; the next open under its key starts a new one. Nothing is deleted."""

        def change(tx: Tx, reading: ClockReading) -> Session:
            session = get_session(tx, self.id)
            if session.ended_at is not None:
                return session
            ended = replace(session, ended_at=reading.now, updated_at=max(session.updated_at, reading.now))
            sessions.describe(tx, ended)
            events.add(tx, EventType.ENDED, "session", self.id, at=reading.now, actor=self._runtime.actor)
            return ended

        return self._runtime.write(change)

    def _add(self, said: Iterable[NewMessage]) -> list[Message]:
        def change(tx: Tx, reading: ClockReading, admitted: list[AdmittedMessage]) -> list[Message]:
            added = append_new_messages(tx, self.id, admitted, self._runtime.ids, reading.now)
            if self.key.kind is SessionKind.HOOK:
                # After the write, which has made this session the newest of its kind.
                prune_hook_sessions(tx, reading, self._runtime)
            return added

        with Intake(self._runtime) as intake:
            # Imported here: a program that adds no messages needs no patterns of secrets.
            from recollectum.vault.intake.plain_messages import admit_messages  # noqa: PLC0415

            admitted = admit_messages(said, self.gate, intake.message)
            return self._runtime.write(lambda tx, reading: change(tx, reading, admitted))
