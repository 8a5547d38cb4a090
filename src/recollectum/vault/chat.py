"""Chat: one open session. Both sides are recorded, in order, and come back as they were."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import NotFound
from recollectum.domain.event import EventType
from recollectum.domain.message import Json, Message, Part, TokenCount, ToolCall
from recollectum.domain.owner import Owner
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.domain.trust import Trust, least
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import events, messages, sessions
from recollectum.text.cleaning import clean
from recollectum.vault.draft import MAX_PAGE, check_limit
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.keeping import Keeping
from recollectum.vault.redacting import call_without_secrets, without_secrets
from recollectum.vault.transcript import Said, append, existing, prune_hooks, to_message
from recollectum.vault.trusting import check_global

_READ = operation(Permission.READ, Scope.SESSION)
_WRITE = operation(Permission.WRITE, Scope.SESSION)
_CHANGE = operation(Permission.WRITE, Scope.SESSION, reads=True)


class Chat:
    """One session, open for reading and adding."""

    def __init__(self, footing: Footing, session: Session) -> None:
        self._footing = footing.for_session(session.id)
        self.id = session.id
        self.key: SessionKey = session.key

    @property
    def gate(self) -> Gate:
        """The gate every operation passes: for this session only."""
        return self._footing.gate

    @_WRITE
    def add(
        self,
        role: str,
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
        """Record one message. The same native id again changes nothing and returns the first."""
        said = Said(
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
        return self.add_many([said])[0]

    @_WRITE
    def add_many(self, said: Iterable[Said]) -> list[Message]:
        """Record several messages in one transaction: all of them, or none."""

        def change(tx: Tx, reading: Reading, handed_in: list[Said]) -> list[Message]:
            ids = self._footing.ids
            made = [to_message(one, self.id, ids("msg"), reading.now) for one in handed_in]
            if not self.gate.own:
                # Whoever may write here on a grant does not speak with the owner's voice.
                made = [replace(one, trust=least(one.trust, Trust.UNKNOWN)) for one in made]
            added = [append(tx, one, reading.now) for one in _believed(self.gate.owner, made)]
            if self.key.kind is SessionKind.HOOK:
                # After the write, which has made this session the youngest of its kind.
                prune_hooks(tx, reading, self._footing)
            return added

        with Keeping(self._footing, set()) as keeping:
            handed_in = [_kept(keeping, one) for one in said]
            return self._footing.write(lambda tx, reading: change(tx, reading, handed_in))

    @_READ
    def info(self) -> Session:
        """The session as it stands now."""
        return self._footing.read(lambda tx, _: existing(tx, self.id))

    @_READ
    def messages(self, *, before: int | None = None, limit: int = 50) -> list[Message]:
        """The last messages before a position, in order."""
        size = check_limit(limit, MAX_PAGE)
        return self._footing.read(lambda tx, _: messages.latest(tx, self.id, before=before, limit=size))

    @_READ
    def after(self, position: int = 0, *, limit: int = 500) -> list[Message]:
        """The messages that follow a position, in order: how to read a session from its beginning."""
        size = check_limit(limit, MAX_PAGE)
        return self._footing.read(lambda tx, _: messages.after(tx, self.id, position, size))

    @_READ
    def window(self, turns: int = 30) -> list[Message]:
        """The last turns whole: from a user's message to the end, tool calls with their results."""
        size = check_limit(turns, MAX_PAGE, "turns")

        def load(tx: Tx, _: Reading) -> list[Message]:
            start = messages.turn_start(tx, self.id, size)
            return messages.after(tx, self.id, start - 1, 100_000)

        return self._footing.read(load)

    @_CHANGE
    def record_call(self, message_id: str, call: ToolCall) -> Message:
        """Set what is known of a tool call: a new one, or how one that was pending ended."""

        def change(tx: Tx, reading: Reading, call: ToolCall) -> Message:
            message = messages.find(tx, message_id)
            if message is None or message.session_id != self.id:
                raise NotFound(f"there is no message {message_id!r} in session {self.id!r}")
            cleaned = to_message(Said(role="tool", content="", tool_calls=(call,)), self.id, "", reading.now)
            others = [known for known in message.tool_calls if known.id != call.id]
            at = next((i for i, known in enumerate(message.tool_calls) if known.id == call.id), len(others))
            others[at:at] = map(call_without_secrets, cleaned.tool_calls)
            changed = replace(message, tool_calls=tuple(others))
            messages.set_calls(tx, changed)
            return changed

        with Keeping(self._footing, set()) as keeping:
            kept = keeping.call(call)
            return self._footing.write(lambda tx, reading: change(tx, reading, kept))

    @_CHANGE
    def describe(self, *, title: str | None = None, summary: str | None = None) -> Session:
        """Set the session's title or summary."""

        def change(tx: Tx, reading: Reading) -> Session:
            session = existing(tx, self.id)
            described = replace(
                session,
                title=session.title if title is None else without_secrets(clean(title)),
                summary=session.summary if summary is None else without_secrets(clean(summary)),
                updated_at=max(session.updated_at, reading.now),
            )
            sessions.describe(tx, described)
            return described

        return self._footing.write(change)

    @_CHANGE
    def end(self) -> Session:
        """Close the session; the next open under its key begins a new one. Nothing is deleted."""

        def change(tx: Tx, reading: Reading) -> Session:
            session = existing(tx, self.id)
            if session.ended_at is not None:
                return session
            ended = replace(session, ended_at=reading.now, updated_at=max(session.updated_at, reading.now))
            sessions.describe(tx, ended)
            events.add(tx, EventType.ENDED, "session", self.id, at=reading.now, actor=self._footing.actor)
            return ended

        return self._footing.write(change)


def _kept(keeping: Keeping, said: Said) -> Said:
    if not keeping.keeps:
        return said
    return replace(
        said,
        content=keeping.text(said.content) if isinstance(said.content, str) else keeping.parts(said.content),
        tool_calls=tuple(map(keeping.call, said.tool_calls)),
        thoughts=keeping.parts(said.thoughts),
    )


def _believed(owner: Owner | None, made: list[Message]) -> list[Message]:
    """The messages, unless one of them would bring a stranger's words to everybody."""
    for message in made:
        check_global(owner, message.trust)
    return made
