"""Reads the new lines of a growing transcript in every known format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker, derived_id
from recollectum.domain.message import Json, Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey, name_agent
from recollectum.transfer import claude_code, codex, gemini, jsonl
from recollectum.transfer.agent_lines import AgentLine
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms import openclaw
from recollectum.transfer.sessions import placeholder_session, with_derived_ids
from recollectum.vault.files.transcript_files import ParsedLines

OURS = "recollectum"
_OUR_LINE = b'{"crc":"'
_NATIVE_ID = "native_id"
_CHANNEL = "cli"
#: Where the line of a message begins in its file.
_OFFSET = "offset"
#: If none of this many first lines shows the format, the file is not one of ours.
_LOOKED_AT = 50

_AGENTS: Mapping[str, Callable[[Mapping[str, Json]], AgentLine]] = {
    claude_code.AGENT: claude_code.read_line,
    codex.AGENT: codex.read_line,
    openclaw.AGENT: openclaw.read_line,
}


class TranscriptLineReader:
    """Reads all formats of transcripts; see `vault.transcript_sync_port.TranscriptReader`."""

    def recognise(self, lines: Sequence[bytes]) -> str | None:
        """Return the format of a file by its first lines."""
        return next((form for line in lines[:_LOOKED_AT] if (form := _form_of(line))), None)

    def is_whole(self, form: str) -> bool:
        """Return whether a later line may change an earlier one: Gemini CLI writes a change log."""
        return form == gemini.AGENT

    def read(
        self, form: str, lines: Sequence[bytes], known: Session | None, starts: Sequence[int] | None = None
    ) -> ParsedLines:
        """Return the content of the lines; `starts` are their offsets in the file, which messages then keep."""
        if form == OURS:
            return _read_ours(lines, known)
        if form == gemini.AGENT:
            return _read_log(lines)
        return _read_agent(form, lines, known, starts)


def _form_of(line: bytes) -> str | None:
    if line.startswith(_OUR_LINE):
        return OURS
    try:
        value = _object(line)
    except InvalidInput:
        return None
    if {"sessionId", "startTime"} <= value.keys():
        return gemini.AGENT
    if {"timestamp", "type", "payload"} <= value.keys():
        return codex.AGENT
    if value.get("type") == "session" and {"version", "id", "cwd"} <= value.keys():
        return openclaw.AGENT
    return claude_code.AGENT if "type" in value and value.keys() & {"sessionId", "leafUuid"} else None


def _object(line: bytes) -> dict[str, Json]:
    try:
        return as_object(parse(line.decode()), "it")
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8") from None


def _read_ours(lines: Sequence[bytes], known: Session | None) -> ParsedLines:
    session = known
    messages: list[Message] = []
    damage: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        try:
            item = jsonl.read_line(line)
            if isinstance(item, Session):
                session = item
            elif item is not None:
                session = session or placeholder_session((item,))
                messages.append(_own(item, session))
        except InvalidInput as error:
            damage.append((number, str(error)))
    return ParsedLines(session=session, messages=tuple(messages), damage=tuple(damage))


def _own(message: Message, session: Session) -> Message:
    if message.session_id != session.id:
        raise InvalidInput("the message is of another session")
    return message


def _read_log(lines: Sequence[bytes]) -> ParsedLines:
    """Return the whole of a change log, without the lines that are not JSON."""
    kept: list[bytes] = []
    damage: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                _object(line)
                kept.append(line)
        except InvalidInput as error:
            damage.append((number, str(error)))
    try:
        session, messages = with_derived_ids(*gemini.read_record(b"\n".join(kept), IdMaker()))
    except InvalidInput as error:
        return ParsedLines(session=None, damage=(*damage, (1, str(error))))
    return ParsedLines(session=session, messages=messages, damage=tuple(damage))


@dataclass(slots=True)
class _Heard:
    """The state of an agent's log after the lines read so far."""

    conversation: str | None = None
    began: datetime | None = None

    def note(self, line: AgentLine) -> None:
        """Record the conversation of a line, and its start."""
        self.conversation = self.conversation or line.conversation
        self.began = self.began or line.at


def _read_agent(form: str, lines: Sequence[bytes], known: Session | None, starts: Sequence[int] | None) -> ParsedLines:
    heard = _Heard()
    said: list[tuple[str | None, Message]] = []
    damage: list[tuple[int, str]] = []
    attachments = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            one = _AGENTS[form](_object(line))
        except InvalidInput as error:
            damage.append((number, str(error)))
            continue
        heard.note(one)
        attachments += one.attachments
        if one.message:
            message = replace(one.message, extra={_OFFSET: starts[number - 1]}) if starts else one.message
            said.append((one.conversation, message))
    session = _session(form, heard, known)
    if session is None:
        return ParsedLines(session=None, damage=(*damage, *([(1, "no line names the conversation")] * bool(said))))
    theirs = str(session.extra.get(_NATIVE_ID, ""))
    messages = tuple(_placed(form, own or theirs, message, session) for own, message in said)
    return ParsedLines(session=session, messages=messages, damage=tuple(damage), attachments=attachments)


def _session(form: str, heard: _Heard, known: Session | None) -> Session | None:
    """Return the known session, unless the lines are of another conversation."""
    if known and heard.conversation in (None, known.extra.get(_NATIVE_ID)):
        return known
    if heard.conversation is None or heard.began is None:
        return None
    return Session(
        id=derived_id("ses", heard.began, f"{form}\x1f{heard.conversation}"),
        key=SessionKey(agent=name_agent(form), channel=_CHANNEL, topic=heard.conversation),
        created_at=heard.began,
        updated_at=heard.began,
        imported=True,
        extra={_NATIVE_ID: heard.conversation},
    )


def _placed(form: str, conversation: str, message: Message, session: Session) -> Message:
    """Return the message with an id derived from its agent's, so that a later import matches it."""
    seed = f"{form}\x1f{conversation}\x1f{message.native_id}"
    return replace(message, id=derived_id("msg", message.created_at, seed), session_id=session.id)
