"""`recollectum sessions export` and `import`: writes conversations to files, and reads them back."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from recollectum.domain.errors import InvalidInput
from recollectum.domain.notice import total
from recollectum.doors.cli.commands.sessions.sessions import SessionId
from recollectum.doors.cli.terminal.embedding import embed_new
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import (
    answer,
    answer_rows,
    byte_progress,
    note,
    plural,
    print_json,
    tell,
    working,
)
from recollectum.doors.cli.terminal.prompts import binary_stdin
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault, open_vault
from recollectum.home.files import open_regular, write_atomic

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.transfer.sessions import ImportReport
    from recollectum.vault.vault import Vault

_STDIN = "-"
#: The start of every line of our transcripts.
_OUR_LINE = b'{"crc":"'
_MOST_BYTES = 512 * 2**20


class TranscriptFormat(StrEnum):
    """The format of an exported conversation."""

    JSONL = "jsonl"
    GEMINI = "gemini"


class InputFormat(StrEnum):
    """The format of an input file, or detected from the file."""

    AUTO = "auto"
    JSONL = "jsonl"
    GEMINI = "gemini"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group of sessions."""
    command(app, "export")(export)
    command(app, "import")(import_)
    command(app, "imports")(imports)


def imports(run: Run, *, limit: Annotated[int, typer.Option(help="How many at most, the newest first.")] = 50) -> None:
    """List the imports, with the ids that undo them."""
    with open_user_vault(run) as vault:
        found = vault.sessions.list_imports(limit=limit)
    rows = [(one.id, one.at, one.by, one.sessions, one.messages) for one in found]
    answer_rows(run, {"imports": found}, ("id", "at", "by", "sessions", "messages"), rows)
    if not found:
        note("there are no imports")


def export(
    run: Run,
    session_id: SessionId,
    *,
    form: Annotated[
        TranscriptFormat, typer.Option("--format", help="jsonl is ours; gemini is the record of Gemini CLI.")
    ] = TranscriptFormat.JSONL,
    output: Annotated[str, typer.Option("--output", metavar="FILE", help="A file; `-` is stdout.")] = _STDIN,
) -> None:
    """Write a whole session, one event per line, or as a Gemini record."""
    with open_vault(run) as vault:
        pieces = _pieces(vault, session_id, form)
        if output == _STDIN:
            _to_stdout(pieces)
            return
        with working(run, "writing the session"):
            data = b"".join(pieces)
    written = _write_if_changed(Path(output).absolute(), data, form)
    answer(run, {"session_id": session_id, "file": output, "bytes": len(data), "written": written}, [])
    note(f"wrote {len(data)} bytes to {output}" if written else f"{output} is up to date already")


def _pieces(vault: "Vault | ServedVault", session_id: str, form: TranscriptFormat) -> Iterable[bytes]:
    # They import the vault, which `--help` must not pay for.
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415
    from recollectum.transfer.sessions import export_record, export_session, record_of  # noqa: PLC0415

    if isinstance(vault, ServedVault):
        lines = vault.sessions.export(session_id)
        return lines if form is TranscriptFormat.JSONL else [record_of(lines).encode(), b"\n"]
    if form is TranscriptFormat.GEMINI:
        return [export_record(vault, session_id).encode(), b"\n"]
    return export_session(vault, session_id)


def _write_if_changed(path: Path, data: bytes, form: TranscriptFormat) -> bool:
    from recollectum.transfer.gemini import same_record  # noqa: PLC0415 - it imports the vault

    if form is TranscriptFormat.GEMINI and path.is_file() and same_record(path.read_bytes(), data.decode()):
        return False
    write_atomic(path, data)
    return True


def import_(
    run: Run,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Transcripts or records; `-` is stdin.")],
    *,
    form: Annotated[InputFormat, typer.Option("--format", help="How the files are written.")] = InputFormat.AUTO,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file that has a damaged line.")] = False,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="Not your own conversations: import all text with trust `unknown`.")
    ] = False,
) -> None:
    """Import conversations, each completely or not at all; what is here already is not doubled."""
    done: list[tuple[str, ImportReport]] = []
    try:
        with open_vault(run, create=True) as vault:
            with byte_progress(files) as advance:
                together: str | None = None
                for name in files:
                    how = ImportOptions(form, strict, foreign, together)
                    with _opened(name) as file:
                        done.append((name, _bring_in(vault, file, how, advance)))
                    # Files of one command line are undone together.
                    together = together or done[-1][1].import_id
            embed_new(run, vault)
    finally:
        # Also when a later file fails: the earlier ones are imported.
        _tell(run, done)


class ImportOptions(NamedTuple):
    """How files are imported."""

    form: InputFormat
    strict: bool
    foreign: bool
    #: The id of their import, once there is one.
    import_id: str | None


def _bring_in(
    vault: "Vault | ServedVault", file: BufferedReader, how: ImportOptions, advance: Callable[[int], None]
) -> "ImportReport":
    # Both import the vault, which `--help` must not pay for.
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415
    from recollectum.transfer.jsonl import bounded_lines  # noqa: PLC0415
    from recollectum.transfer.sessions import adopt_record, adopt_transcript  # noqa: PLC0415

    adopt = vault.admin.imports.adopt if isinstance(vault, ServedVault) else vault.sessions.adopt
    chosen = _recognised(file.peek()) if how.form is InputFormat.AUTO else how.form
    if chosen is InputFormat.JSONL:
        lines = _watched(bounded_lines(file), advance)
        return adopt_transcript(adopt, lines, strict=how.strict, foreign=how.foreign, import_id=how.import_id)
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InvalidInput(f"a record of more than {_MOST_BYTES // 2**20} MiB is too long; split it")
    advance(len(data))
    return adopt_record(adopt, data, foreign=how.foreign, import_id=how.import_id)


def _recognised(head: bytes) -> InputFormat:
    """Return our format when any line starts as ours do: the first line may be the damaged one."""
    if any(line.startswith(_OUR_LINE) for line in head.splitlines()):
        return InputFormat.JSONL
    return InputFormat.GEMINI if head.lstrip().startswith((b"{", b"[")) else InputFormat.JSONL


def _opened(name: str) -> AbstractContextManager[BufferedReader]:
    # Stdin is not ours to close.
    return nullcontext(binary_stdin()) if name == _STDIN else open_regular(Path(name))


def _watched(lines: Iterable[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    for line in lines:
        yield line
        advance(len(line))


def _tell(run: Run, done: "list[tuple[str, ImportReport]]") -> None:
    for name, report in done:
        for damage in report.damage:
            note(f"{name} line {damage.line}: {damage.reason}")
    tell(total(report.notice for _, report in done))
    if run.json:
        print_json({"imports": [{"file": name, **_document(report)} for name, report in done]})
        return
    for name, report in done:
        known = f", {report.known} known already" if report.known else ""
        damaged = f", {plural(len(report.damage), 'damaged line')}" if report.damage else ""
        echoes = f", {plural(report.echoes, 'message')} left out as an echo of memory" if report.echoes else ""
        added = plural(report.added, "message")
        print(one_line(f"{name}: {report.session.id}, {added} added{known}{echoes}{damaged}"))
    brought = next((report.import_id for _, report in done if report.import_id), None)
    if brought:
        note(f"to undo it: recollectum undo import {brought}")


def _document(report: "ImportReport") -> dict[str, object]:
    return {
        "session": report.session,
        "added": report.added,
        "known": report.known,
        "echoes": report.echoes,
        "damage": report.damage,
        "import_id": report.import_id,
        "notice": report.notice,
    }


def _to_stdout(pieces: Iterable[bytes]) -> None:
    if sys.stdout.isatty():
        for piece in pieces:
            # Still JSON, but without characters that a terminal would obey.
            print(_ascii(piece), end="")
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _ascii(piece: bytes) -> str:
    """Return the JSON with every character outside ASCII escaped, and DEL too."""
    text = piece.decode(errors="replace")
    return "".join(char if char.isascii() and char != "\x7f" else _spelled(char) for char in text)


def _spelled(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
