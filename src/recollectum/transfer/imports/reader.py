"""Finds the files at some paths, and recognises the form of each by its content."""

import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.storage.foreign.database import MAGIC, ForeignDatabase
from recollectum.storage.foreign.places import COMPANIONS, places_below
from recollectum.text.cleaning import clean
from recollectum.transfer import bundle_rows
from recollectum.transfer.forms import (
    adk,
    aider,
    chatgpt,
    claude_ai,
    cursor,
    knowledge_graph,
    langgraph,
    letta,
    mem0,
    memory_lists,
    openclaw,
    opencode,
    picobot,
)
from recollectum.transfer.forms.json_files import list_elements, read_object
from recollectum.transfer.imports import mapped
from recollectum.transfer.imports.line_files import read_lines, read_record
from recollectum.transfer.imports.sources import (
    DatabaseReader,
    DatabaseSource,
    Opening,
    StreamReader,
    StreamSource,
    archive_errors,
    open_file,
    open_member,
)
from recollectum.transfer.transcript_reader import OURS, TranscriptLineReader
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignSource, Sources

KNOWN = (
    "transcripts of Claude Code, Codex, Gemini CLI, OpenClaw and Recollectum; exports of ChatGPT, Claude.ai, mem0, "
    "MemorySync and Zep; databases of opencode, OpenClaw, Cursor, ADK, mem0 and LangGraph; aider's chat history, "
    "Letta's .af, PicoBot's sessions.json, the MCP memory graph, bundles of Recollectum; and CSV, JSONL and Markdown "
    "with a mapping"
)
_TRANSCRIPTS = {
    "claude": "Claude Code transcript",
    "codex": "Codex transcript",
    "gemini": "Gemini CLI transcript",
    "openclaw": "OpenClaw transcript",
    OURS: "Recollectum transcript",
}
_DATABASES: tuple[tuple[Callable[[Mapping[str, frozenset[str]]], bool], str, DatabaseReader], ...] = (
    (opencode.fits, opencode.NAME, opencode.read),
    (openclaw.fits, openclaw.NAME, openclaw.read),
    (adk.fits, adk.NAME, adk.read),
    (mem0.fits_history, mem0.HISTORY_NAME, mem0.read_history),
    (mem0.fits_chroma, mem0.CHROMA_NAME, mem0.read_chroma),
    (mem0.fits_qdrant, mem0.QDRANT_NAME, mem0.read_qdrant),
    (langgraph.fits, langgraph.NAME, langgraph.read),
    (cursor.fits, cursor.NAME, cursor.read),
)
_LISTS: tuple[tuple[Callable[[Mapping[str, Json]], bool], str, StreamReader], ...] = (
    (chatgpt.is_conversation, chatgpt.NAME, chatgpt.read),
    (claude_ai.is_conversation, claude_ai.NAME, claude_ai.read),
    (mem0.is_export, mem0.EXPORT_NAME, mem0.read_export),
)
_OBJECTS: tuple[tuple[Callable[[Mapping[str, Json]], bool], str, StreamReader], ...] = (
    (letta.fits, letta.NAME, letta.read),
    (picobot.fits, picobot.NAME, picobot.read),
    (memory_lists.is_memorysync, memory_lists.MEMORYSYNC_NAME, memory_lists.read_memorysync),
    (memory_lists.is_zep, memory_lists.ZEP_NAME, memory_lists.read_zep),
)
#: By its first line.
_ROWS: tuple[tuple[Callable[[bytes], bool], str, StreamReader], ...] = (
    (bundle_rows.has_memories, bundle_rows.MEMORIES_NAME, bundle_rows.read_memories),
    (bundle_rows.has_messages, bundle_rows.MESSAGES_NAME, bundle_rows.read_messages),
)
_ZIP = b"PK\x03\x04"
_HEAD = 2**12
#: If none of this many first lines shows the form, it is unknown.
_LOOKED_AT = 50
_LOOKED_AT_BYTES = 2**20
#: So many first lines are entities or relations in the file of a memory graph.
_GRAPH_LINES = 3
#: Members of an archive that may be of a known form.
_READ_SUFFIXES = (".json", ".jsonl", ".md", ".af")
_READER = TranscriptLineReader()


def _nothing(_: int) -> None:
    """Ignore progress."""


class ForeignReader:
    """Recognises the files of other programs; see `vault.files.foreign_sources.ImportReader`."""

    def discover(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Return where programs keep their files below a person's home, or where variables say, if they are there."""
        return places_below(home, environ)

    def find(self, paths: Sequence[Path], mapping: Mapping[str, str] | None) -> Sources:
        """Return what is at the paths; raise for one that is missing or of no known form."""
        if mapping is not None:
            mapped.check_mapping(mapping)
        look = _Look()
        for path in paths:
            if path.is_dir():
                for inner in _files_below(path):
                    look.try_file(inner)
            else:
                look.add_file(path, mapping)
        if not look.known and not look.unreadable:
            named = ", ".join(repr(clean(str(path))) for path in paths)
            raise InvalidInput(f"there is nothing of a known form in {named}; known forms are {KNOWN}")
        return Sources(known=tuple(look.known.values()), unknown=look.unknown, unreadable=tuple(look.unreadable))


class _Look:
    """What was found so far; a file that two paths name is found once."""

    def __init__(self) -> None:
        self.known: dict[Path, ForeignSource] = {}
        self.unknown = 0
        self.unreadable: list[tuple[str, str]] = []

    def add_file(self, path: Path, mapping: Mapping[str, str] | None) -> None:
        """Add a file that a person named; raise unless its form is known."""
        if not path.exists():
            raise InvalidInput(f"{clean(str(path))!r} is neither a file nor a folder; give the path of one")
        # A link that a person names is meant; those in folders are left out.
        found = list(_recognise(path.resolve() if path.is_symlink() else path, mapping))
        if not found:
            raise InvalidInput(f"{clean(str(path))!r} is of no known form; known forms are {KNOWN}")
        self.known.update({one.path: one for one in found})

    def try_file(self, path: Path) -> None:
        """Add a file of a folder, or count it as one of no known form."""
        try:
            found = list(_recognise(path, None))
        except InvalidInput as error:
            self.unreadable.append((clean(str(path)), str(error)))
            return
        self.unknown += not found
        self.known.update({one.path: one for one in found})


def _recognise(path: Path, mapping: Mapping[str, str] | None) -> Iterator[ForeignSource]:
    if mapping is not None:
        name, reading = mapped.reader_for(path, mapping)
        yield StreamSource(path=path, name=name, opening=open_file(path), reading=reading, size=_size(path))
        return
    with open_file(path)() as file:
        head = cast("BufferedReader", file).peek(_HEAD)[:_HEAD]
    if head.startswith(MAGIC):
        yield from _database(path)
    elif head.startswith(_ZIP):
        yield from _archive(path)
    else:
        yield from _stream(path)


def _database(path: Path) -> Iterator[ForeignSource]:
    with ForeignDatabase(path) as database:
        tables = database.tables()
    for fits, name, reading in _DATABASES:
        if fits(tables):
            yield DatabaseSource(path=path, name=name, reading=reading, size=_size(path))
            return


def _archive(path: Path) -> Iterator[ForeignSource]:
    """Yield the files of an archive whose form is known; the first one says how many others there are."""
    with archive_errors(path), zipfile.ZipFile(path) as archive:
        # A damaged archive may have a member without a name, at which `is_dir` fails.
        members = [info for info in archive.infolist() if not info.filename.endswith("/")]
    known: list[StreamSource] = []
    for member in sorted(members, key=lambda one: one.filename):
        if not member.filename.endswith(_READ_SUFFIXES):
            continue
        inside, opening = path / member.filename, open_member(path, member.filename)
        found = _form(opening)
        if found is not None:
            name, reading = found
            size = member.file_size
            known.append(StreamSource(path=inside, name=name, opening=opening, reading=reading, size=size))
    if known:
        yield replace(known[0], others=len(members) - len(known))
        yield from known[1:]


def _stream(path: Path) -> Iterator[ForeignSource]:
    opening = open_file(path)
    found = _form(opening)
    if found is None:
        return
    name, reading = found
    once = name == picobot.NAME and not path.name.endswith(picobot.MIGRATED)
    moves = path.with_name(path.name + picobot.MIGRATED) if once else None
    yield StreamSource(path=path, name=name, opening=opening, reading=reading, size=_size(path), moves_to=moves)


def _form(opening: Opening) -> tuple[str, StreamReader] | None:
    """Return the form of a text file, by its first lines or by its first object."""
    with opening() as file:
        head = file.read(_LOOKED_AT_BYTES)
    # A line that goes on after this is no line of a transcript's beginning.
    whole = head if len(head) < _LOOKED_AT_BYTES else head[: head.rfind(b"\n") + 1]
    lines = [line.rstrip(b"\r") for line in islice(whole.split(b"\n"), _LOOKED_AT) if line.strip()]
    if any(map(aider.is_start, lines)):
        return aider.NAME, aider.read
    form = _READER.recognise(lines)
    if form is not None:
        return _TRANSCRIPTS[form], read_lines(form)
    for fits, name, reading in _ROWS:
        if lines and fits(lines[0]):
            return name, reading
    items = [knowledge_graph.parse_item(line.decode("utf-8", "replace")) for line in lines[:_GRAPH_LINES]]
    # The last line of a short file may be cut off.
    if items and all(items[: max(1, len(items) - (len(lines) <= _GRAPH_LINES))]):
        return knowledge_graph.NAME, knowledge_graph.read
    begins = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    with opening() as file:
        if begins == b"[":
            return _form_of_list(file)
        return _form_of_object(file) if begins == b"{" else None


def _form_of_list(file: BinaryIO) -> tuple[str, StreamReader] | None:
    first = next(list_elements(file, _nothing), None)
    if isinstance(first, DamagedPart) or not isinstance(first, dict):
        return None
    return next(((name, reading) for fits, name, reading in _LISTS if fits(first)), None)


def _form_of_object(file: BinaryIO) -> tuple[str, StreamReader] | None:
    try:
        value = read_object(file, _nothing)
    except InvalidInput:
        return None
    results = value.get("results")
    if isinstance(results, list) and results and isinstance(results[0], dict) and mem0.is_export(results[0]):
        return mem0.EXPORT_NAME, mem0.read_export
    if {"sessionId", "startTime", "messages"} <= value.keys():
        return _TRANSCRIPTS["gemini"], read_record
    return next(((name, reading) for fits, name, reading in _OBJECTS if fits(value)), None)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted; hidden ones and links are left out, except aider's history."""
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(inner, name)
            hidden = name.startswith(".") and name != aider.FILE
            if not hidden and not path.is_symlink() and path.is_file() and not name.endswith(COMPANIONS):
                yield path


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
