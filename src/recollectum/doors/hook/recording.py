"""Records new messages of an agent's transcript in the vault, each message once."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from recollectum.domain.message import Message, Role
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey
from recollectum.doors.hook.events import HookEvent
from recollectum.doors.remote.vault import ServedVault
from recollectum.transfer.transcript_reader import TranscriptLineReader
from recollectum.vault.intake.new_message import NewMessage, check_message, hand_in
from recollectum.vault.vault import Vault

_CHANNEL = "cli"
#: A larger transcript is left to `recollectum sessions transcripts follow`, which reads it in batches.
MAX_TRANSCRIPT = 256 * 2**20
#: How many sessions under one key, and messages of each, are searched for known messages.
_MOST_SESSIONS = 20
_MOST_KNOWN = 500
#: Agents call the hook a moment before the last message is in the file.
_TRIES = 8
_PAUSE = 0.25


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """The part of a conversation that is in the vault: a long one may be several sessions."""

    sessions: tuple[Session, ...]
    native_ids: frozenset[str]
    #: The agent's own id of the newest message, which finds the position in its file again.
    newest: str | None


@dataclass(frozen=True, slots=True)
class Recording:
    """The result of recording an event."""

    #: The session that holds the messages; None when nothing is recorded here.
    session_id: str | None
    notice: Notice = NO_NOTICE


def key_of(event: HookEvent) -> SessionKey:
    """Return the key of a conversation, the same that importers use."""
    return SessionKey(agent=event.agent, channel=_CHANNEL, topic=event.conversation)


def sessions_of(vault: Vault | ServedVault, event: HookEvent) -> tuple[Session, ...]:
    """Return the sessions of a conversation, newest first: earlier versions gave its agent another name."""
    keys = key_of(event).under_every_name()
    found = [one for key in keys for one in vault.sessions.list(key_prefix=str(key), limit=_MOST_SESSIONS)]
    return tuple(sorted((one for one in found if one.key in keys), key=lambda one: one.id, reverse=True))


def record(
    vault: Vault | ServedVault,
    event: HookEvent,
    prompt: str,
    pause: Callable[[float], None] = time.sleep,
    root: Path | None = None,
) -> Recording:
    """Record new messages, in the project with that root; return their session, and what was done to their texts.

    A transcript that the vault follows anyway is only synced: recording it here as well would store every message
    twice.
    """
    if event.transcript is not None:
        if not isinstance(vault, ServedVault) and _is_followed(vault, event.transcript):
            return Recording(None, vault.admin.transcripts.sync().notice)
        for _ in range(_TRIES):
            said = _new_messages(vault, event)
            if said is None:
                break
            if _has_answer(said, event.answer):
                return _save_messages(vault, event, [hand_in(one) for one in said], root)
            pause(_PAUSE)
        else:
            # The file lacks the last message; it comes with the next event.
            rest = _new_messages(vault, event) or []
            return _save_messages(vault, event, [hand_in(one) for one in rest], root)
    # Without a readable transcript, use what the event itself says.
    spoken = [NewMessage(role="user", content=prompt)] if prompt else []
    spoken += [NewMessage(role="assistant", content=event.answer)] if event.answer else []
    return _save_messages(vault, event, spoken, root)


def _is_followed(vault: Vault, path: Path) -> bool:
    real = path.resolve()
    return any(real.is_relative_to(one.path) for one in vault.admin.transcripts.list())


def _recorded_conversation(vault: Vault | ServedVault, event: HookEvent) -> RecordedConversation:
    sessions = sessions_of(vault, event)
    said = [
        one for session in sessions for one in reversed(vault.sessions.chat(session.id).messages(limit=_MOST_KNOWN))
    ]
    named = [one.native_id for one in said if one.native_id]
    return RecordedConversation(sessions, frozenset(named), named[0] if named else None)


def _new_messages(vault: Vault | ServedVault, event: HookEvent) -> list[Message] | None:
    """Return the messages of the transcript that the vault lacks; None when it cannot be parsed."""
    data = _read(event.transcript) if event.transcript else None
    if data is None:
        return None
    reader, standing = TranscriptLineReader(), _recorded_conversation(vault, event)
    lines = data.split(b"\n")
    form = reader.recognise(lines)
    if form is None:
        return None
    whole = reader.is_whole(form)
    start = 0 if whole or standing.newest is None else _line_of(lines, standing.newest)
    head = [] if start == 0 else [line for line in lines[:50] if line]
    known = reader.read(form, head, None).session if head else None
    found = reader.read(form, [line for line in lines[start:] if line], known).messages
    return [one for one in found if one.native_id not in standing.native_ids]


def _line_of(lines: Sequence[bytes], native_id: str) -> int:
    """Return the first line with an id, which is the message's own: others refer back to it. 0 when there is none."""
    wanted = native_id.encode()
    return next((at for at, line in enumerate(lines) if wanted in line), 0)


def _read(path: Path) -> bytes | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_TRANSCRIPT:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    # An incomplete line is left for the next time.
    return data[: data.rfind(b"\n") + 1]


def _has_answer(said: Sequence[Message], answer: str) -> bool:
    """Return whether the file contains the agent's last message."""
    wanted = answer.strip()
    last = next((one.text.strip() for one in reversed(said) if one.role is Role.ASSISTANT and one.text.strip()), "")
    return not wanted or (bool(last) and (wanted in last or last in wanted))


def _save_messages(
    vault: Vault | ServedVault, event: HookEvent, said: Sequence[NewMessage], root: Path | None
) -> Recording:
    if not said:
        known = sessions_of(vault, event)
        return Recording(known[0].id if known else None)
    for one in said:
        check_message(one)
    known = next((one.key for one in sessions_of(vault, event) if one.ended_at is None), key_of(event))
    chat = vault.sessions.open_key(known, project=str(root) if root else None)
    added = chat.add_many(said)
    return Recording(chat.id, chat.notice + total(one.notice for one in added))
