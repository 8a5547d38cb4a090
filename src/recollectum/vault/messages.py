"""Appends messages to sessions, one or many, each once, indexes them or lets them wait, and removes sessions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from recollectum.domain.errors import NotFound
from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.ids import IdMaker, check_indexed
from recollectum.domain.message import Message, Role
from recollectum.domain.notice import Notice, total
from recollectum.domain.session import MAIN, Session, SessionKey
from recollectum.policy.clock import ClockReading
from recollectum.recall.index import waiting
from recollectum.recall.index.chunk_index import index_message, index_messages
from recollectum.recall.index.passages import message_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, served, sessions
from recollectum.storage.tables.index import chunks, embedding_cache
from recollectum.storage.tables.learning import proposals
from recollectum.storage.tables.trail import events, quarantines
from recollectum.vault.intake.admitted import AdmittedCall, AdmittedMessage, AdmittedSession
from recollectum.vault.intake.kept_secrets import queue_message_secrets, queue_secret_deletion, queue_summary_secrets
from recollectum.vault.runtime import VaultRuntime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_LIMIT = 1 << 40


def append_message(tx: Tx, admitted: AdmittedMessage, now: datetime) -> Message:
    """Append a message to its session, unless its native id is there already."""
    message = admitted.message
    if message.native_id is not None:
        known = messages.find_native(tx, message.session_id, message.native_id)
        if known:
            # The first message stays: the secrets of this one are not needed, unless a text refers to them too.
            queue_message_secrets(tx, message)
            return known
    position = sessions.grow(tx, message.session_id, messages=1, tokens=message.token_estimate, at=now)
    if position is None:
        raise NotFound(f"there is no session {message.session_id!r} in this vault")
    placed = replace(message, position=position)
    return _index(tx, messages.add_new(tx, placed), placed)


def set_call(tx: Tx, message: Message, admitted: AdmittedCall) -> Message:
    """Write one tool call of a message: a new one, or the result of a pending one."""
    call = admitted.call
    others = [known for known in message.tool_calls if known.id != call.id]
    at = next((i for i, known in enumerate(message.tool_calls) if known.id == call.id), len(others))
    changed = replace(message, tool_calls=(*others[:at], call, *others[at:]))
    messages.set_calls(tx, changed)
    return changed


def _index(tx: Tx, number: int, message: Message) -> Message:
    """Index a new message unless its source is in quarantine, and return it."""
    held_by = _find_quarantine(tx, message)
    if held_by is None:
        index_message(tx, number, message)
    else:
        quarantines.add_message(tx, held_by, message.id)
    return message


def _find_quarantine(tx: Tx, message: Message) -> str | None:
    """Return the quarantine that covers a new message, or None."""
    found = quarantines.standing_ones(tx)
    if not found:
        return None
    original = message.extra.get("copy_of")
    if isinstance(original, str) and (held_by := quarantines.holder(tx, original)):
        return held_by
    return next((one.id for one in found if _is_from_source(tx, one.source, message)), None)


def _is_from_source(tx: Tx, source: str, message: Message) -> bool:
    kind, _, name = source.partition(":")
    match kind:
        case "session":
            return message.session_id == name
        case "tool":
            return _is_by_tool(message, name)
        case "agent" | "imported":
            session = sessions.find(tx, message.session_id)
            return session is not None and (session.imported if kind == "imported" else session.key.agent == name)
        case _:
            # An import quarantine covers only past messages, and an author quarantine covers memories.
            return False


def _is_by_tool(message: Message, name: str) -> bool:
    spoke = message.speaker is not None and message.speaker.casefold() == name.casefold()
    return message.role is Role.TOOL and (spoke or any(call.name == name for call in message.tool_calls))


def begin_session(
    tx: Tx, key: SessionKey, reading: ClockReading, runtime: VaultRuntime, project: str | None = None
) -> Session:
    """Start a session under a key, in a project or in none, and record the event."""
    check_indexed(str(key), "a session key")
    session = Session(id=runtime.ids("ses"), key=key, created_at=reading.now, updated_at=reading.now, project=project)
    sessions.insert(tx, session)
    events.add(tx, EventType.OPENED, "session", session.id, at=reading.now, actor=runtime.actor)
    return session


def direct_key(agent: str, channel: str, runtime: VaultRuntime, topic: str | None = None) -> SessionKey:
    """Return the key of a direct conversation; a setting lets all channels share one."""
    shared = runtime.settings.sessions.direct == "main"
    return SessionKey(agent=agent, channel=MAIN if shared else channel, topic=topic)


def remove_session(tx: Tx, session_id: str, *, actor: str, at: datetime, type: EventType) -> bool:
    """Destroy a session, its messages and their index entries."""
    for number, message in messages.of_session(tx, session_id):
        chunks.remove(tx, SourceKind.SESSIONS, number)
        embedding_cache.forget(tx, message_hashes(message))
        queue_message_secrets(tx, message)
    queue_summary_secrets(tx, session_id)
    # They go with the session.
    queue_secret_deletion(tx, *proposals.texts_of_session(tx, session_id))
    served.forget_session(tx, session_id, at)
    if not sessions.delete(tx, session_id):
        return False
    events.add(tx, type, "session", session_id, at=at, actor=actor)
    return True


def prune_hook_sessions(tx: Tx, reading: ClockReading, runtime: VaultRuntime) -> int:
    """Destroy hook sessions that are too old or too many; return how many."""
    if reading.held:
        return 0
    rules = runtime.settings.sessions
    # 0 turns a limit off.
    age = timedelta(hours=rules.hook_max_age_hours) if rules.hook_max_age_hours else reading.now - _EPOCH
    stale = sessions.stale_hooks(tx, oldest=reading.now - age, most=rules.hook_max_count or _NO_LIMIT)
    for session_id in stale:
        remove_session(tx, session_id, actor=runtime.actor, at=reading.now, type=EventType.PRUNED)
    return len(stale)


def get_session(tx: Tx, session_id: str) -> Session:
    """Return the session with that id."""
    session = sessions.find(tx, session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r} in this vault")
    if session.imported and sessions.is_taken_back(tx, session_id):
        raise NotFound(
            f"session {session_id!r} was quarantined with its import; release it, see: recollectum quarantine list"
        )
    return session


def find_same_message(tx: Tx, message: Message) -> Message | None:
    """Find the message by its native id, which survives a rewritten transcript, else by our id."""
    if message.native_id is not None:
        found = messages.find_native(tx, message.session_id, message.native_id)
        if found:
            return found
    return messages.find(tx, message.id)


#: How many characters at the end of an id are derived from the name; see `domain.ids.derived_id`.
_ID_NAME_LENGTH = 16


def is_same_conversation(session_id: str, other_id: str | None) -> bool:
    """Return whether two ids were derived from one name: all but their time is equal, and the time may differ."""
    return other_id is not None and session_id[-_ID_NAME_LENGTH:] == other_id[-_ID_NAME_LENGTH:]


class Appending:
    """Appends messages to one session in order; new ones wait until a known one comes, or the end.

    `said` are the messages that may come: what the vault has of them is looked up once.
    """

    def __init__(self, tx: Tx, session_id: str, said: Iterable[AdmittedMessage]) -> None:
        listed = [one.message for one in said]
        self._tx = tx
        self._session_id = session_id
        self._natives = messages.known_natives(tx, session_id, [one.native_id for one in listed if one.native_id])
        self._ids = messages.known_ids(tx, [one.id for one in listed if one.id])
        # A quarantine decides about each message.
        self._alone = bool(quarantines.standing_ones(tx))
        self._waiting: list[tuple[Message, datetime]] = []
        self._done: list[Message] = []

    def find_same(self, one: AdmittedMessage) -> Message | None:
        """Return the message that is there already, also as one of those that wait."""
        if one.message.native_id not in self._natives and one.message.id not in self._ids:
            return None
        self._write()
        return find_same_message(self._tx, one.message)

    def append(self, one: AdmittedMessage, now: datetime) -> None:
        """Append a message to the session, unless its native id is there already."""
        if self._alone or one.message.native_id in self._natives:
            self._write()
            self._done.append(append_message(self._tx, one, now))
        else:
            self._waiting.append((one.message, now))
        if one.message.native_id is not None:
            self._natives.add(one.message.native_id)
        self._ids.add(one.message.id)

    def finish(self) -> list[Message]:
        """Write what waits, and return all messages in order: those that were added, or that were there already."""
        self._write()
        return self._done

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        newest = max(at for _, at in waiting)
        first = _grow(self._tx, self._session_id, [message for message, _ in waiting], newest)
        placed = [replace(message, position=first + place) for place, (message, _) in enumerate(waiting)]
        _insert(self._tx, placed)
        self._done += placed


def append_messages(tx: Tx, session_id: str, said: Sequence[AdmittedMessage], now: datetime) -> list[Message]:
    """Append messages to a session, each unless its native id is there already."""
    if len(said) == 1:
        return [append_message(tx, said[0], now)]
    appending = Appending(tx, session_id, said)
    for one in said:
        appending.append(one, now)
    return appending.finish()


def append_new_messages(
    tx: Tx, session_id: str, said: Sequence[AdmittedMessage], ids: IdMaker, now: datetime
) -> list[Message]:
    """Append messages that have no id yet to a session, each unless its native id is there already.

    Several messages wait for the index until the next search.
    """
    alone = len(said) == 1 or any(one.message.native_id is not None for one in said)
    if alone or quarantines.standing_ones(tx):
        return append_messages(tx, session_id, [one.placed(session_id, ids("msg"), now) for one in said], now)
    if not said:
        return []
    # None of them can be there, so nothing is looked up.
    first = _grow(tx, session_id, [one.message for one in said], now)
    named = enumerate(zip(said, ids.many("msg", len(said)), strict=True), start=first)
    placed = [one.placed(session_id, id, now, position).message for position, (one, id) in named]
    numbers = messages.add_all_new(tx, placed)
    if not waiting.defer(tx, "messages", numbers):
        _index_all(tx, numbers, placed)
    return placed


def _grow(tx: Tx, session_id: str, new: Sequence[Message], at: datetime) -> int:
    """Count new messages in their session, and return the position of the first."""
    tokens = sum(message.token_estimate for message in new)
    last = sessions.grow(tx, session_id, messages=len(new), tokens=tokens, at=at)
    if last is None:
        raise NotFound(f"there is no session {session_id!r} in this vault")
    return last - len(new) + 1


def insert_messages(tx: Tx, said: Sequence[AdmittedMessage]) -> None:
    """Insert messages at their positions, and index those whose source is not in quarantine."""
    if not said:
        return
    if quarantines.standing_ones(tx):
        for one in said:
            _index(tx, messages.insert(tx, one.message), one.message)
    else:
        _insert(tx, [one.message for one in said])


class UpsertedMessages(NamedTuple):
    """What became of the messages of a conversation."""

    #: How many were `added`, and how many `known`.
    counts: Counter[str]
    #: The notice of the new ones.
    notice: Notice
    #: The ids of the new ones.
    new: frozenset[str]


def upsert_session_messages(
    tx: Tx, admitted: AdmittedSession, said: Iterable[AdmittedMessage], *, actor: str, at: datetime
) -> UpsertedMessages:
    """Add the messages that are not here yet, and the session if it is new."""
    session, told = admitted.session, list[Notice]()
    if sessions.find(tx, session.id) is None:
        told.append(session.notice)
        sessions.insert(tx, admitted.counted(0, 0).session)
    counts: Counter[str] = Counter()
    new: set[str] = set()
    all_placed = [one.placed(session.id) for one in said]
    appending = Appending(tx, session.id, all_placed)
    for placed in all_placed:
        standing = appending.find_same(placed)
        calls = placed.message.tool_calls
        if standing is None:
            appending.append(placed, placed.message.created_at)
            new.add(placed.message.id)
            told.append(placed.message.notice)
        elif calls and calls != standing.tool_calls:
            # An agent writes a message again after its tools have answered.
            messages.set_calls(tx, replace(standing, tool_calls=calls))
            told.append(placed.message.notice)
        counts["added" if standing is None else "known"] += 1
    appending.finish()
    if counts["added"]:
        events.add(
            tx, EventType.IMPORTED, "session", session.id, at=at, actor=actor, payload={"messages": counts["added"]}
        )
    return UpsertedMessages(counts, total(told), frozenset(new))


def _insert(tx: Tx, added: Sequence[Message]) -> None:
    _index_all(tx, messages.insert_many(tx, added), added)


def _index_all(tx: Tx, numbers: Sequence[int], added: Sequence[Message]) -> None:
    index_messages(tx, ((number, one.text) for number, one in zip(numbers, added, strict=True)))
