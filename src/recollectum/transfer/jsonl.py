r"""Reads and writes one conversation as JSON lines, each with a checksum.

{"crc":"…","recollectum":"session","session":{…},"version":1}
{"crc":"…","message":{…}}
…
{"crc":"…","end":{"messages":2}}

`crc` is the CRC-32 of the canonical JSON of the rest of its line. A line that was torn, edited or lost affects only
itself, and is reported: a newline at the end of a line does not show that the line is complete.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO, TypeVar

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.text.cleaning import clean_json
from recollectum.transfer.foreign_json import Fields, as_object, canonical, parse_raw
from recollectum.transfer.records import message_from_record, message_to_record, session_from_record, session_to_record

VERSION = 1
MAX_LINE = 16 * 2**20
#: The number of damaged lines that are listed, and after which a file with nothing else is rejected.
MAX_LISTED = 1000
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that was rejected, counted from 1, and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The content of a transcript; the session is None if its line is lost."""

    session: Session | None
    messages: tuple[Message, ...]
    #: The first damaged lines, at most `MAX_LISTED`.
    damage: tuple[Damage, ...] = ()


def write(session: Session, messages: Iterable[Message]) -> Iterator[bytes]:
    """Yield the lines of a transcript, one at a time."""
    yield _line({"recollectum": "session", "version": VERSION, "session": session_to_record(session)})
    written, last = 0, 0
    for message in messages:
        if message.session_id != session.id or message.position <= last:
            raise InvalidInput(f"message {message.id!r} is of another session or out of order; write one in order")
        yield _line({"message": message_to_record(message)})
        written, last = written + 1, message.position
    yield _line({"end": {"messages": written}})


def read(lines: Iterable[bytes]) -> Transcript:
    """Return a whole transcript, with its session's counts computed again."""
    session: Session | None = None
    messages: list[Message] = []
    damage: list[Damage] = []
    for item in stream(lines):
        match item:
            case Session():
                session = item
            case Message():
                messages.append(item)
            case Damage() if len(damage) < MAX_LISTED:
                damage.append(item)
            case Damage():
                pass
    if session:
        tokens = sum(message.token_estimate for message in messages)
        session = replace(session, message_count=len(messages), token_estimate=tokens)
    return Transcript(session, tuple(messages), tuple(damage))


def stream(lines: Iterable[bytes]) -> Iterator[Session | Message | Damage]:
    """Yield the session, then each message, and damage where it occurs; only the current line is in memory."""
    reader = _Reader()
    number = 0
    for number, line in enumerate(lines, start=1):
        stripped = line.rstrip(b"\r\n")
        if number == 1:
            stripped = stripped.removeprefix(_BOM)
        if not stripped:
            continue
        try:
            item = reader.accept(_open_line(stripped))
        except _Fault as fault:
            yield Damage(number, str(fault))
            reader.count_damage()
        else:
            if item:
                yield item
    if not reader.ended:
        yield Damage(number + 1, "the end line is missing: the transcript was cut short")


def read_line(line: bytes) -> Session | Message | None:
    """Return the content of one line of a growing transcript; None for an empty line or an end line."""
    stripped = line.rstrip(b"\r\n").removeprefix(_BOM)
    if not stripped:
        return None
    try:
        value = _open_line(stripped)
        return None if "end" in value else _Reader().accept(value)
    except _Fault as fault:
        raise InvalidInput(str(fault)) from None


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; a line longer than `MAX_LINE` is cut to a length that the reader rejects."""
    while line := file.readline(MAX_LINE + 1):
        yield line
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)
            if not line:
                return


class _Fault(Exception):
    """Raised with the reason why a line is rejected."""


class _Reader:
    """The state of reading that the next line depends on."""

    def __init__(self) -> None:
        self.damaged = 0
        self.ended = False
        self._session: Session | None = None
        self._messages = 0
        self._last = 0

    def count_damage(self) -> None:
        """Count a damaged line; raise InvalidInput if the file has nothing else."""
        self.damaged += 1
        if self.damaged == MAX_LISTED and not (self._session or self._messages):
            raise InvalidInput(f"this is not a transcript: none of its first {MAX_LISTED} lines could be read")

    def accept(self, line: dict[str, Json]) -> Session | Message | None:
        """Return the content of the line; None for the end line when its count is right."""
        if self.ended:
            raise _Fault("it is after the end line")
        if "recollectum" in line:
            return self._accept_header(line)
        if "message" in line:
            return self._accept_message(line["message"])
        if "end" in line:
            return self._accept_end(line["end"])
        raise _Fault("it is neither a header nor a message nor an end line")

    def _accept_header(self, line: dict[str, Json]) -> Session:
        version = line.get("version")
        if line["recollectum"] != "session" or version != VERSION:
            found = f"version {version}" if isinstance(version, int) else "another kind"
            raise InvalidInput(
                f"the transcript is of {found}; this Recollectum reads version {VERSION}, so try a newer one"
            )
        if self._session or self._messages:
            raise _Fault("there is a header in the middle: two files were joined")
        self._session = _read_shape(session_from_record, line.get("session"))
        return self._session

    def _accept_message(self, value: Json) -> Message:
        message = _read_shape(message_from_record, value)
        if self._session and message.session_id != self._session.id:
            raise _Fault("the message is of another session")
        if message.position <= self._last:
            raise _Fault("the message is out of order or repeated")
        self._messages += 1
        self._last = message.position
        return message

    def _accept_end(self, value: Json) -> None:
        self.ended = True
        counted = _read_shape(_read_end, value)
        # A damaged line may have been a message, and it has been reported.
        if not self._messages <= counted <= self._messages + self.damaged:
            raise _Fault(f"the end line counts {counted} messages, but {self._messages} were read")


def _line(rest: dict[str, Json]) -> bytes:
    """Return one line: the object with its checksum."""
    cleaned = as_object(clean_json(rest), "line")
    line = canonical({**cleaned, "crc": _crc(cleaned)}) + b"\n"
    if len(line) > MAX_LINE:
        raise InvalidInput(f"a message of {len(line)} bytes is too long for a transcript; lines end at {MAX_LINE}")
    return line


def _open_line(line: bytes) -> dict[str, Json]:
    """Return the content of a line, after checking its form and checksum."""
    if len(line) > MAX_LINE:
        raise _Fault(f"it is longer than {MAX_LINE} bytes")
    try:
        value = as_object(parse_raw(line.decode()), "it")
        cleaned = as_object(clean_json(value), "it")
    except UnicodeDecodeError:
        raise _Fault("it is not UTF-8") from None
    except InvalidInput as error:
        raise _Fault(str(error)) from None
    # The writer computed the checksum of what it wrote, so it is checked before cleaning.
    crc = value.pop("crc", None)
    if crc != _crc(value):
        raise _Fault("its checksum is wrong or missing")
    return cleaned


def _crc(rest: dict[str, Json]) -> str:
    return f"{zlib.crc32(canonical(rest)):08x}"


_Shape = TypeVar("_Shape")


def _read_shape(reader: Callable[[Json], _Shape], value: Json) -> _Shape:
    try:
        return reader(value)
    except InvalidInput as error:
        raise _Fault(str(error)) from None


def _read_end(value: Json) -> int:
    return Fields(value, "end").count("messages")
