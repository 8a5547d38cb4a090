"""Saves named checkpoints in conversations, and forks conversations from them."""

import builtins
from dataclasses import replace
from itertools import takewhile

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.ids import check_name
from recollectum.domain.message import Json, Message
from recollectum.domain.session import FORK, ORIGIN, Checkpoint, Session
from recollectum.domain.trust import Trust, least_trusted
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import checkpoints, messages, sessions, summaries
from recollectum.storage.tables.trail import events
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedMessage, stored_message
from recollectum.vault.intake.intake import Intake
from recollectum.vault.messages import append_messages, get_session
from recollectum.vault.service import VaultService
from recollectum.vault.sessions.chat import Chat

#: Messages read at a time while a conversation is copied.
_PAGE = 1000


class Checkpoints(VaultService):
    """The checkpoints of one vault's conversations."""

    @operation(Action.SESSION_WRITE, Scope.SESSION)
    def save(self, session_id: str, name: str) -> Checkpoint:
        """Save the session's current position under a name; a name that is taken moves here."""

        def change(tx: Tx, reading: ClockReading, called: str) -> Checkpoint:
            session = get_session(tx, session_id)
            made = Checkpoint(name=called, session_id=session_id, position=session.message_count, saved_at=reading.now)
            checkpoints.save(tx, made)
            return made

        with Intake(self._runtime) as intake:
            called = intake.name(check_name(name, "checkpoint"), "checkpoint name")
            return self._runtime.write(lambda tx, reading: change(tx, reading, called))

    @operation(Action.SESSION_READ, Scope.USER)
    def list(self, session_id: str | None = None) -> builtins.list[Checkpoint]:
        """Return all checkpoints, or those of one session, newest first."""

        def load(tx: Tx, _: ClockReading) -> list[Checkpoint]:
            return checkpoints.everything(tx, None if session_id is None else get_session(tx, session_id).id)

        return self._runtime.read(load)

    @operation(Action.SESSION_WRITE, Scope.USER, reads=True)
    def resume(self, name: str) -> Chat:
        """Resume from a checkpoint: fork its session up to there, and open the fork under the same key."""

        def change(tx: Tx, reading: ClockReading) -> Session:
            found = checkpoints.find(tx, name)
            if found is None:
                raise NotFound(f"there is no checkpoint {name!r} in this vault")
            return self._fork(tx, reading, found.session_id, found.position)

        return self._opened(self._runtime.write(change))

    @operation(Action.SESSION_WRITE, Scope.USER, reads=True)
    def fork(self, session_id: str, position: int) -> Chat:
        """Fork a session at any message: copy it up to there, and open the copy under the same key.

        The original stays unchanged. A session that was open under the key is ended.
        """
        return self._opened(self._runtime.write(lambda tx, reading: self._fork(tx, reading, session_id, position)))

    @operation(Action.SESSION_DELETE, Scope.USER)
    def remove(self, name: str) -> None:
        """Remove a checkpoint; the conversation and its forks stay."""

        def change(tx: Tx, _: ClockReading) -> None:
            if not checkpoints.delete(tx, name):
                raise NotFound(f"there is no checkpoint {name!r} in this vault")

        self._runtime.write(change)

    def _opened(self, session: Session) -> Chat:
        return Chat(self._runtime, session)

    def _fork(self, tx: Tx, reading: ClockReading, session_id: str, position: int) -> Session:
        original = get_session(tx, session_id)
        if not 0 <= position <= original.message_count:
            raise InvalidInput(
                f"position {position} is not in session {session_id!r}; use 0 to {original.message_count}"
            )
        said = _messages_up_to(tx, session_id, position)
        self._end_open(tx, reading, original)
        made = Session(
            id=self._runtime.ids("ses"),
            key=original.key,
            created_at=reading.now,
            updated_at=reading.now,
            title=original.title,
            project=original.project,
            extra={FORK: {"session_id": session_id, "position": position, "messages": len(said)}},
        )
        sessions.insert(tx, made)
        placed = append_messages(tx, made.id, [self._copy(one, original, made) for one in said], reading.now)
        _copy_summary(tx, reading, session_id, made.id, said, placed)
        payload: dict[str, Json] = {"forked_from": session_id, "position": position}
        actor = self._runtime.actor
        events.add(tx, EventType.OPENED, "session", made.id, at=reading.now, actor=actor, payload=payload)
        return get_session(tx, made.id)

    def _copy(self, one: Message, original: Session, made: Session) -> AdmittedMessage:
        # An imported text must not gain the owner's trust in the owner's session.
        trust = least_trusted(one.trust, Trust.IMPORTED) if original.imported else one.trust
        # A copy of a copy refers to the first message, which is the one that memories cite.
        return stored_message(one).copied(self._runtime.ids("msg"), made.id, trust, (ORIGIN, one.id))

    def _end_open(self, tx: Tx, reading: ClockReading, original: Session) -> None:
        found = sessions.find_open(tx, original.key)
        if found is None:
            return
        ended = replace(found, ended_at=reading.now, updated_at=max(found.updated_at, reading.now))
        sessions.describe(tx, ended)
        events.add(tx, EventType.ENDED, "session", found.id, at=reading.now, actor=self._runtime.actor)


def _messages_up_to(tx: Tx, session_id: str, position: int) -> list[Message]:
    said: list[Message] = []
    after = 0
    while page := messages.after(tx, session_id, after, _PAGE):
        said += takewhile(lambda one: one.position <= position, page)
        after = page[-1].position
        if after >= position:
            break
    return said


def _copy_summary(
    tx: Tx, reading: ClockReading, original_id: str, fork_id: str, said: list[Message], placed: list[Message]
) -> None:
    """Copy the original's summary if it covers nothing after the fork."""
    summary = summaries.find(tx, original_id)
    places = {before.position: after.position for before, after in zip(said, placed, strict=True)}
    if summary and summary.up_to in places:
        reach = replace(summary, up_to=places[summary.up_to])
        summaries.save(tx, fork_id, reach, reading.now, before=0)
