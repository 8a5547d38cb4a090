"""Reads transcripts of one JSON object per line in batches, with the readers that follow growing files too."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker
from recollectum.domain.session import Session
from recollectum.transfer import gemini
from recollectum.transfer.jsonl import bounded_lines
from recollectum.transfer.sessions import with_derived_ids
from recollectum.transfer.transcript_reader import TranscriptLineReader
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignConversation, ForeignItem, OmittedPart, Progress
from recollectum.vault.files.transcript_files import MAX_WHOLE, ParsedLines

#: How much is parsed at a time.
_BATCH_BYTES = 1 << 18
_READER = TranscriptLineReader()


def read_lines(form: str) -> Callable[[BinaryIO, Progress], Iterator[ForeignItem]]:
    """Return the reader of transcripts of a form."""

    def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
        session: Session | None = None
        first, offset = 1, 0
        for lines in _batches(file, progress, whole=_READER.is_whole(form)):
            starts = _starts(lines, offset)
            parsed = _READER.read(form, [line.rstrip(b"\r\n") for line in lines], session, starts)
            if parsed.session is not None and (session is None or parsed.session.id != session.id):
                session = parsed.session
                yield ForeignConversation(session=session)
            yield from parsed.messages
            yield from _damage(parsed, first)
            if parsed.attachments:
                yield OmittedPart("attachment", parsed.attachments)
            first, offset = first + len(lines), offset + sum(map(len, lines))

    return read


def read_record(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the conversation of a Gemini CLI record, the older form: one object on several lines."""
    data = file.read(MAX_WHOLE + 1)
    progress(len(data))
    if len(data) > MAX_WHOLE:
        raise InvalidInput(
            f"a record of more than {MAX_WHOLE // 2**20} MiB is not read, because all of it must be held"
        )
    session, messages = with_derived_ids(*gemini.read_record(data, IdMaker()))
    yield ForeignConversation(session=session)
    yield from messages


def _batches(file: BinaryIO, progress: Progress, *, whole: bool) -> Iterator[list[bytes]]:
    """Yield the lines in batches, or all of them where a later line may change an earlier one."""
    lines: list[bytes] = []
    size = 0
    for line in bounded_lines(file):
        progress(len(line))
        lines.append(line)
        size += len(line)
        if whole and size > MAX_WHOLE:
            raise InvalidInput(
                f"a log of more than {MAX_WHOLE // 2**20} MiB is not read, because all of it must be held"
            )
        if not whole and size >= _BATCH_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def _starts(lines: list[bytes], offset: int) -> list[int]:
    found: list[int] = []
    for line in lines:
        found.append(offset)
        offset += len(line)
    return found


def _damage(parsed: ParsedLines, first: int) -> Iterator[DamagedPart]:
    for number, reason in parsed.damage:
        yield DamagedPart(f"line {first + number - 1}", reason)
