"""Exports sessions from a vault and imports them, as JSON lines or as Gemini CLI records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker, derived_id
from recollectum.domain.message import Message
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.page import every
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey
from recollectum.transfer import gemini, jsonl
from recollectum.transfer.gemini_asides import without_asides
from recollectum.transfer.jsonl import Damage
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.sessions.service import AdoptResult
from recollectum.vault.vault import Vault

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import."""

    session: Session
    added: int
    #: Messages that already existed.
    known: int
    #: Messages that were left out because they repeat what memory served.
    echoes: int = 0
    #: Lines that could not be read; each affects only itself.
    damage: tuple[Damage, ...] = ()
    #: The id for reverting the import; None when nothing was new.
    import_id: str | None = None
    #: What was done to the texts.
    notice: Notice = NO_NOTICE


def export_session(vault: Vault, session_id: str) -> Iterator[bytes]:
    """Return the lines of a session's transcript."""
    chat = vault.sessions.chat(session_id)
    return jsonl.write(chat.info(), _whole(chat))


def import_transcript(
    vault: Vault, lines: Iterable[bytes], *, strict: bool = False, foreign: bool = False, import_id: str | None = None
) -> ImportReport:
    """Import a transcript, whole or not at all. With `strict`, one damaged line rejects it."""
    return adopt_transcript(vault.sessions.adopt, lines, strict=strict, foreign=foreign, import_id=import_id)


class Adopts(Protocol):
    """Imports one conversation: into a vault in a home, or on a server."""

    def __call__(
        self, session: Session, transcript: Sequence[Message], /, *, foreign: bool, import_id: str | None
    ) -> AdoptResult:
        """Import it, and return what became of it."""
        ...


def adopt_transcript(
    adopt: Adopts, lines: Iterable[bytes], *, strict: bool = False, foreign: bool = False, import_id: str | None = None
) -> ImportReport:
    """Import a transcript by the given call."""
    found = jsonl.read(lines)
    if found.damage and strict:
        first = found.damage[0]
        raise InvalidInput(f"line {first.line} is damaged: {first.reason}; nothing was imported")
    if found.session is None and not found.messages:
        raise InvalidInput("this is not a transcript: it has neither a session nor a message that can be read")
    session = found.session or placeholder_session(found.messages)
    return _report(adopt(session, found.messages, foreign=foreign, import_id=import_id), found.damage)


def export_record(vault: Vault, session_id: str) -> str:
    """Return a session as a Gemini CLI conversation record."""
    chat = vault.sessions.chat(session_id)
    return gemini.write_record(chat.info(), _whole(chat))


def record_of(lines: Iterable[bytes]) -> str:
    """Return a whole transcript as a Gemini CLI conversation record."""
    found = jsonl.read(lines)
    if found.session is None or found.damage:
        raise InvalidInput("the transcript is damaged, so no record was made of it; export it again")
    return gemini.write_record(found.session, found.messages)


def import_record(vault: Vault, data: bytes, *, foreign: bool = False, import_id: str | None = None) -> ImportReport:
    """Import a conversation record; importing it again adds only what is new in it."""
    return adopt_record(vault.sessions.adopt, data, foreign=foreign, import_id=import_id)


def adopt_record(adopt: Adopts, data: bytes, *, foreign: bool = False, import_id: str | None = None) -> ImportReport:
    """Import a conversation record by the given call."""
    session, messages = with_derived_ids(*gemini.read_record(data, IdMaker()))
    return _report(adopt(session, messages, foreign=foreign, import_id=import_id))


def _report(adopted: AdoptResult, damage: tuple[Damage, ...] = ()) -> ImportReport:
    return ImportReport(
        session=adopted.session,
        added=adopted.added,
        known=adopted.known,
        echoes=adopted.echoes,
        damage=damage,
        import_id=adopted.import_id,
        notice=adopted.notice,
    )


def _whole(chat: Chat) -> Iterator[Message]:
    yield from every(lambda cursor: chat.transcript(cursor=cursor, limit=_BATCH))


def placeholder_session(messages: tuple[Message, ...]) -> Session:
    """Return a session for messages whose header line is lost."""
    times = [message.created_at for message in messages]
    return Session(id=messages[0].session_id, key=SessionKey(), created_at=min(times), updated_at=max(times))


def with_derived_ids(session: Session, messages: tuple[Message, ...]) -> tuple[Session, tuple[Message, ...]]:
    """Return the session and messages with ids derived from the agent's, so that a later import matches them."""
    theirs = str(session.extra.get("native_id", ""))
    named = replace(session, id=derived_id("ses", session.created_at, f"gemini\x1f{theirs}"))
    return named, tuple(
        replace(
            message,
            id=derived_id("msg", message.created_at, f"gemini\x1f{theirs}\x1f{message.native_id or message.position}"),
            session_id=named.id,
        )
        for message in without_asides(messages)
    )
