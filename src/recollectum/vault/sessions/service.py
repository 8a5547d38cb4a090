"""Opens, lists, imports and deletes the conversations of a vault."""

import builtins
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.files.project import Project
from recollectum.domain.ids import check_indexed
from recollectum.domain.message import Message
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.page import Page, cut_page
from recollectum.domain.records import dataclass
from recollectum.domain.session import MAIN, Session, SessionKey, SessionKind
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import imports, projects, sessions
from recollectum.storage.tables.content.imports import Import
from recollectum.storage.tables.erasure import erased_lineage
from recollectum.storage.tables.trail import events
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.files.projects import ensure_project, find_project_of, parse_place
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedMessage, AdmittedSession
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.redaction import redact_place
from recollectum.vault.intake.tally import Tally
from recollectum.vault.messages import (
    Appending,
    begin_session,
    direct_key,
    get_session,
    insert_messages,
    prune_hook_sessions,
    remove_session,
)
from recollectum.vault.refresh import refresh_at_session_start
from recollectum.vault.service import Service, VaultService
from recollectum.vault.sessions.chat import Chat

if TYPE_CHECKING:
    from recollectum.vault.sessions.checkpoints import Checkpoints
    from recollectum.vault.sessions.echoes import StoredEchoes
    from recollectum.vault.sessions.summaries import Summaries


#: The topic of a session of a project, and how much of the project's id follows it.
_TOPIC, _TOPIC_DIGITS = "project", 12


@dataclass(frozen=True, slots=True)
class AdoptResult:
    """The result of importing a conversation."""

    session: Session
    added: int
    #: Messages that were here already.
    known: int
    #: The id of the import, for undoing it; None when nothing was new.
    import_id: str | None = None
    #: Messages that were left out because they repeat what memory served.
    echoes: int = 0
    #: What was done to the texts that were new.
    notice: Notice = NO_NOTICE


class Sessions(VaultService):
    """The conversations of one vault."""

    checkpoints: Service["Checkpoints"] = Service(
        "sessions.checkpoints.Checkpoints", "Places in conversations to go back to."
    )
    echoes: Service["StoredEchoes"] = Service(
        "sessions.echoes.StoredEchoes", "Echoes of what memory served, from before they were recognised."
    )
    summaries: Service["Summaries"] = Service(
        "sessions.summaries.Summaries", "Summaries of what a window no longer shows."
    )

    @operation(Action.SESSION_WRITE, Scope.USER)
    def open(
        self,
        *,
        channel: str = MAIN,
        agent: str = MAIN,
        group: str | None = None,
        topic: str | None = None,
        hook: str | None = None,
        project: str | None = None,
    ) -> Chat:
        """Resume the session of this channel, agent, group, topic or hook, or start one.

        With `project`, its name, its id or the path of a folder, the session is one of that project, apart from the
        one of the same place without it: the topic of its key ends with the beginning of the project's id.
        """
        found = self._ensure_project(project) if project is not None else None
        if found and hook is None:
            topic = f"{topic or _TOPIC}@{found.id[:_TOPIC_DIGITS]}"
        return self._open(self._key(channel, agent, group, topic, hook), found)

    @operation(Action.SESSION_WRITE, Scope.USER)
    def open_key(self, key: SessionKey | str, *, project: str | None = None) -> Chat:
        """Resume the session under a key, or start one, in a project or in none."""
        found = self._ensure_project(project) if project is not None else None
        return self._open(SessionKey.parse(key) if isinstance(key, str) else key, found)

    @operation(Action.SESSION_READ, Scope.SESSION)
    def get(self, session_id: str) -> Session:
        """Return the session with that id."""
        return self._runtime.read(lambda tx, _: get_session(tx, session_id))

    @operation(Action.SESSION_READ, Scope.SESSION)
    def chat(self, session_id: str) -> Chat:
        """Return the session with that id as a chat, to read its messages and to add to it."""
        return Chat(self._runtime, self._runtime.read(lambda tx, _: get_session(tx, session_id)))

    @operation(Action.SESSION_READ, Scope.USER)
    def list(self, *, key_prefix: str | None = None, cursor: str | None = None, limit: int = 50) -> Page[Session]:
        """Return the newest sessions, all or those whose key begins with a text."""
        size = check_limit(limit, MAX_PAGE)
        seconds = self._runtime.settings.sessions.cache_seconds

        def load(tx: Tx, _: ClockReading) -> Page[Session]:
            asked = (cursor, key_prefix, size + 1)
            found = self._runtime.session_cache.find(
                asked,
                tx.state if seconds else None,
                seconds,
                lambda: sessions.page(tx, before=cursor, prefix=key_prefix, limit=size + 1),
            )
            return cut_page(found, size, lambda one: one.id)

        return self._runtime.read(load)

    @operation(Action.SESSION_DELETE, Scope.SESSION)
    def delete(self, session_id: str, *, message_count: int | None = None) -> bool:
        """Destroy a session and its messages; True when no byte of it is left in the vault's files.

        A transcript that an adapter keeps of the same conversation goes with it.
        With `message_count`, only if it has so many messages: nothing that was added since is lost.
        """

        def change(tx: Tx, reading: ClockReading) -> None:
            if message_count is not None and (has := get_session(tx, session_id).message_count) != message_count:
                raise Conflict(f"session {session_id!r} has {has} messages, not {message_count}; read it again")
            transcripts = erased_lineage.transcripts_of(tx, {session_id})
            if not remove_session(tx, session_id, actor=self._runtime.actor, at=reading.now, type=EventType.DELETED):
                raise NotFound(f"there is no session {session_id!r} in this vault")
            for one in transcripts:
                remove_session(tx, one, actor=self._runtime.actor, at=reading.now, type=EventType.DELETED)
            mark_remains_due(tx)

        self._runtime.write(change, frees=True)
        self._runtime.session_cache.clear()
        return erase_remains(self._runtime)

    @operation(Action.SESSION_WRITE, Scope.USER)
    def adopt(
        self,
        session: Session,
        transcript: Iterable[Message],
        *,
        foreign: bool = False,
        import_id: str | None = None,
    ) -> AdoptResult:
        """Import a conversation with its own ids and times, completely or not at all; skip what is here already.

        A `foreign` conversation is not the person's own: none of it is trusted. Several conversations imported together
        share an `import_id`, and can be undone together.
        """
        named = check_indexed(import_id or self._runtime.ids("imp"), "import_id")
        check_indexed(session.id, "a session id")

        def change(
            tx: Tx, reading: ClockReading, admitted: AdmittedSession, said: list[AdmittedMessage]
        ) -> AdoptResult:
            before = imports.last_number(tx)
            adopted = place(tx, reading, admitted, said)
            if not adopted.added:
                return adopted
            imports.add(tx, named, session.id, before, self._runtime.actor, reading.now)
            return replace(adopted, import_id=named)

        def place(tx: Tx, reading: ClockReading, admitted: AdmittedSession, said: list[AdmittedMessage]) -> AdoptResult:
            known = sessions.find(tx, session.id)
            if known is None:
                whole = self._insert(tx, admitted, said, reading)
                told = total((whole.notice, *(one.message.notice for one in said)))
                return AdoptResult(whole, len(said), 0, notice=told)
            appending = Appending(tx, session.id, said)
            new = [one.placed(session.id) for one in said if appending.find_same(one) is None]
            for one in new:
                appending.append(one, reading.now)
            placed = appending.finish()
            added = sum(1 for before, after in zip(new, placed, strict=True) if before.message.id == after.id)
            if added:
                self._tell_imported(tx, session.id, added, reading)
            # Not `existing`: an undone import is hidden, but its messages are still known.
            told = total(one.notice for one in placed)
            return AdoptResult(sessions.find(tx, session.id) or known, added, len(said) - added, notice=told)

        with Intake(self._runtime) as intake:
            admitted = intake.session(session)
            said, echoes = _admit_messages(intake, transcript, foreign=foreign)
            adopted = self._runtime.write(lambda tx, reading: change(tx, reading, admitted, said))
            return replace(adopted, echoes=echoes)

    @operation(Action.SESSION_READ, Scope.USER)
    def list_imports(self, *, cursor: str | None = None, limit: int = 50) -> Page[Import]:
        """Return the newest imports of which something is left, each with the id that undoes it."""
        size = check_limit(limit, MAX_PAGE)
        found = self._runtime.read(lambda tx, _: imports.page(tx, cursor=cursor, limit=size + 1))
        return cut_page(found, size, imports.cursor_of)

    def _ensure_project(self, project: str) -> Project:
        place = parse_place(project, self.gate)
        known = self._runtime.read(lambda tx, _: find_project_of(projects.everything(tx), place))
        if known and known.name and (place.root is None or place.ids[0] in known.ids):
            return known
        return self._runtime.write(lambda tx, reading: ensure_project(tx, place, reading.now))

    def _open(self, named: SessionKey, project: Project | None) -> Chat:
        # The names of groups and topics come from chats, where people paste anything.
        tally = Tally()
        place = tally.compare_place(named, redact_place(named))

        def change(tx: Tx, reading: ClockReading) -> Session:
            if place.kind is SessionKind.HOOK:
                prune_hook_sessions(tx, reading, self._runtime)
            return sessions.find_open(tx, place) or begin_session(
                tx, place, reading, self._runtime, project.id if project else None
            )

        known = self._runtime.read(lambda tx, _: sessions.find_open(tx, place))
        if known is None:
            refresh_at_session_start(self._runtime)
        opened = known or self._runtime.write(change)
        if place.kind is SessionKind.HOOK:
            # Some may have been pruned.
            self._runtime.session_cache.clear()
        return Chat(self._runtime, replace(opened, notice=tally.notice()))

    def _insert(
        self, tx: Tx, admitted: AdmittedSession, said: builtins.list[AdmittedMessage], reading: ClockReading
    ) -> Session:
        """Insert the session as it came, with its ids, times and order, but without its secrets."""
        counted = [one.message for one in said]
        whole = admitted.counted(
            max((message.position for message in counted), default=0),
            sum(message.token_estimate for message in counted),
        ).session
        check_indexed(str(whole.key), "a session key")
        sessions.insert(tx, whole)
        for message in counted:
            if message.session_id != whole.id or message.position < 1:
                raise InvalidInput(f"message {message.id!r} does not belong to session {whole.id!r}")
        insert_messages(tx, said)
        self._tell_imported(tx, whole.id, len(said), reading)
        return whole

    def _tell_imported(self, tx: Tx, session_id: str, messages_in: int, reading: ClockReading) -> None:
        events.add(
            tx,
            EventType.IMPORTED,
            "session",
            session_id,
            at=reading.now,
            actor=self._runtime.actor,
            payload={"messages": messages_in},
        )

    def _key(self, channel: str, agent: str, group: str | None, topic: str | None, hook: str | None) -> SessionKey:
        if hook is not None:
            return SessionKey(SessionKind.HOOK, name=hook)
        if group is not None:
            return SessionKey(SessionKind.GROUP, agent=agent, channel=channel, name=group, topic=topic)
        return direct_key(agent, channel, self._runtime, topic)


def _admit_messages(
    intake: Intake, transcript: Iterable[Message], *, foreign: bool
) -> tuple[list[AdmittedMessage], int]:
    """Admit messages without echoes of memory, numbered without gaps; return them and the number of echoes."""
    said: list[AdmittedMessage] = []
    echoes = 0
    for message in transcript:
        placed = replace(message, position=message.position - echoes) if echoes else message
        own = intake.imported(placed, foreign=foreign)
        if own is None:
            echoes += 1
        else:
            said.append(own)
    return said, echoes
