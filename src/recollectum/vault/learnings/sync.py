"""Syncs LEARNINGS.md and the vault in both directions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.domain.learning import Learning, LearningsReport, Line
from recollectum.domain.memory import Kind, Memory
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, versions
from recollectum.storage.tables.learning import learnings
from recollectum.vault.files import owner_files as files
from recollectum.vault.files.text_files import UnreadableFile
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.intake import Intake
from recollectum.vault.learnings.document import (
    DocumentChanges,
    LearningEntry,
    LearningsPart,
    MalformedLearnings,
    OtherLines,
    PlacedPart,
    apply_changes,
    document_text,
    new_document,
    parse_learnings,
    to_entry,
)
from recollectum.vault.learnings.merge import LearningsMerge, line_digest, merge_learnings
from recollectum.vault.learnings.saving import (
    LearningWriter,
    load_learning_memories,
    open_learning_writer,
    to_learning,
    today,
)
from recollectum.vault.runtime import VaultRuntime

_ATTEMPTS = 3
_CHANGED_TWICE = "Conflict: the next two lines were one, changed here and in the vault. Keep one, and delete this line."
_FORGOTTEN_IN_VAULT = (
    "Conflict: the next line was changed here and forgotten in the vault. Keep it or not, and delete this line."
)
_REMOVED_IN_FILE = (
    "Conflict: the next line was removed here and changed in the vault. Keep it or not, and delete this line."
)


def learnings_path(runtime: VaultRuntime, agent: str | None) -> Path:
    """Return the path of one agent's file, or of the shared one."""
    folder = files.owner_folder(runtime.home.owners, runtime.gate.owner)
    return files.agent_folder(folder, agent) / files.LEARNINGS


def sync_learnings(runtime: VaultRuntime, agent: str | None) -> LearningsReport:
    """Sync both sides; leave a file that cannot be parsed unchanged, and report why."""
    path = learnings_path(runtime, agent)
    owner = files.owner_folder(runtime.home.owners, runtime.gate.owner)
    other = runtime.files.elsewhere()
    if other is not None:
        return LearningsReport(path=path, kept_by=other)
    here = runtime.files.here

    def at(tx: Tx, reading: ClockReading, admitted: Mapping[str, AdmittedText]) -> _Sync:
        return _Sync(files.read(path), owner, open_learning_writer(tx, reading, runtime, agent), admitted, here)

    try:
        if runtime.read(lambda tx, reading: at(tx, reading, {}).is_idle()):
            return LearningsReport(path=path)
        for _ in range(_ATTEMPTS):
            try:
                with Intake(runtime) as intake:
                    admitted = _admit_entries(intake, files.read(path))
                    report = runtime.write(lambda tx, reading, said=admitted: at(tx, reading, said).run())
                    return replace(report, notice=intake.notice)
            except files.FileChangedError:
                continue
    except (UnreadableFile, MalformedLearnings) as error:
        return LearningsReport(path=path, problem=f"{path}: {error}")
    return LearningsReport(path=path, problem=f"{path}: is being written by another program; sync it again later")


def _admit_entries(intake: Intake, read: files.FileSnapshot) -> dict[str, AdmittedText]:
    """Admit the entries below the four headings; return the admitted texts by the file's texts."""
    parts = [] if read.state is None else parse_learnings(read.text)
    said = {part.text: part for part in parts if isinstance(part, LearningEntry) and part.category}
    return {text: _admit_entry(intake, part) for text, part in said.items()}


def _admit_entry(intake: Intake, part: LearningEntry) -> AdmittedText:
    try:
        return intake.content(part.text)
    except InvalidInput as error:
        raise MalformedLearnings(part.line, f"cannot be kept: {error}") from None


class _Sync:
    """One sync in one transaction."""

    def __init__(
        self,
        read: files.FileSnapshot,
        owner: Path,
        keeper: LearningWriter,
        admitted: Mapping[str, AdmittedText],
        here: str | None,
    ) -> None:
        self._admitted = admitted
        self._here = here
        self._read = read
        self._owner = owner
        self._keeper = keeper
        self._tx = keeper.change.tx
        is_new = read.state is None
        self._pieces: list[LearningsPart] = new_document() if is_new else parse_learnings(read.text)
        self._entries = [piece for piece in self._pieces if isinstance(piece, LearningEntry)]
        self._memories = load_learning_memories(self._tx, keeper.agent, keeper.reading)
        self._known = {one.id: to_learning(self._tx, one) for one in self._memories.values()}
        self._today = today(keeper.reading)
        #: Whether the lines of the last sync are those of another host's file.
        self._is_taken_over = learnings.is_of_another_host(self._tx, keeper.agent, here)
        # A missing file says nothing: it is written again, and no learning is forgotten.
        self._base: Sequence[Line] = [] if is_new else self._last_lines()
        self._merge = merge_learnings(self._base, self._entries, self._known, self._before(), self._today)

    def is_idle(self) -> bool:
        """Return whether neither side has changes."""
        done = self._merge
        if self._is_taken_over:
            return False
        if self._read.state is None or done.clashes or done.added or done.edited or done.forgotten or done.dropped:
            return False
        shown = {place: self._known[one] for place, one in done.standing.items()}
        as_before = all(_is_entry_of(self._entries[place], one) for place, one in shown.items())
        lines = [_line(one) for _, one in sorted(shown.items())]
        return as_before and not done.unseen and not done.days and lines == list(self._base)

    def run(self) -> LearningsReport:
        """Change the vault, then the file, then record what the file shows."""
        self._check_shape()
        done = self._merge
        changes = self._changes(self._take_over(done))
        laid = apply_changes(self._pieces, changes)
        text = document_text(laid)
        _check_layout(laid, text)
        written = self._read.state is None or text != self._read.text
        if written:
            files.replace(self._read, text, (self._owner.parent, self._owner, self._read.path.parent))
        learnings.save_lines(self._tx, self._keeper.agent, _lines(laid))
        learnings.save_host(self._tx, self._keeper.agent, self._here)
        return LearningsReport(
            path=self._read.path,
            added=len(done.added),
            edited=len(done.edited),
            forgotten=len(done.forgotten),
            clashes=tuple(done.clashes.values()),
            written=written,
        )

    def _last_lines(self) -> list[Line]:
        """Return the lines that the file had at the last sync.

        A file that this host has taken over was never synced here, and may be an older copy of the other host's: a line
        that it lacks says nothing, and one that shows a text the vault has or had is no new one.
        """
        if not self._is_taken_over:
            return learnings.lines(self._tx, self._keeper.agent)
        texts: dict[str, str] = {}
        for memory in learnings.ever_of_agent(self._tx, self._keeper.agent):
            texts |= dict.fromkeys(map(line_digest, _past_texts(self._tx, memory)), memory.id)
        shown = ((entry, line_digest(entry.text)) for entry in self._entries)
        return [
            Line(texts[digest], entry.category, digest, entry.day or self._today)
            for entry, digest in shown
            if entry.category and digest in texts
        ]

    def _before(self) -> dict[str, str]:
        """Return the texts of the last sync that the vault still has."""
        found: dict[str, str] = {}
        for line in self._base:
            memory = self._memories.get(line.memory_id) or memories.find(self._tx, line.memory_id)
            for text in _past_texts(self._tx, memory) if memory else ():
                if line_digest(text) == line.digest:
                    found[line.memory_id] = text
                    break
        return found

    def _check_shape(self) -> None:
        """Refuse to forget learnings because a heading was lost or misspelled."""
        if self._base and not any(isinstance(one, OtherLines) and one.opens for one in self._pieces):
            raise MalformedLearnings(
                1, "begins a file with none of the four headings; put them back, or delete the file"
            )
        gone = {line.digest for line in self._base if line.memory_id in self._merge.forgotten}
        for entry in self._entries:
            if entry.category is None and line_digest(entry.text) in gone:
                raise MalformedLearnings(
                    entry.line, "is a learning below a heading that is none of the four; correct the heading"
                )

    def _take_over(self, done: LearningsMerge) -> dict[int, Learning]:
        """Change the vault; return the learning that each entry shows from now on."""
        shown: dict[int, Learning] = {}
        for place in done.added:
            entry = self._entries[place]
            shown[place] = self._keeper.add(self._words(entry), _category(entry), entry.day or self._today)
        for place, memory_id in done.edited.items():
            entry = self._entries[place]
            day = done.days.get(memory_id, self._known[memory_id].day)
            shown[place] = self._keeper.edit(self._memories[memory_id], self._words(entry), _category(entry), day)
        for memory_id in done.forgotten:
            self._keeper.forget(self._memories[memory_id])
        for place, memory_id in done.standing.items():
            shown[place] = self._dated(self._memories[memory_id], done)
        return shown

    def _words(self, entry: LearningEntry) -> AdmittedText:
        if entry.text not in self._admitted:
            # Written after the entries were admitted and before this transaction.
            raise files.FileChangedError
        return self._admitted[entry.text]

    def _dated(self, memory: Memory, done: LearningsMerge) -> Learning:
        day, known = done.days.get(memory.id), self._known[memory.id]
        return known if day in (None, known.day) else self._keeper.redate(memory, day)

    def _changes(self, shown: dict[int, Learning]) -> DocumentChanges:
        done = self._merge
        places: dict[int, PlacedPart | None] = dict.fromkeys(done.dropped)
        new = [(_REMOVED_IN_FILE if one in done.clashes else "", self._known[one]) for one in done.unseen]
        remarks: dict[int, tuple[str, PlacedPart | None]] = {}
        for place, learning in shown.items():
            moved = learning.category is not self._entries[place].category
            places[place] = None if moved else _to_placed_entry(learning)
            new += [("", learning)] if moved else []
        for place, clash in done.clashes.items():
            if isinstance(place, int):
                other = self._known.get(clash.memory_id)
                beside = other if other and other.category is self._entries[place].category else None
                remarks[place] = (
                    _CHANGED_TWICE if other else _FORGOTTEN_IN_VAULT,
                    _to_placed_entry(beside) if beside else None,
                )
                new = [(words, one) for words, one in new if not beside or one.id != beside.id]
        ordered = sorted(new, key=lambda one: (one[1].day, one[1].id), reverse=True)
        return DocumentChanges(places, remarks, [(words, _to_placed_entry(one)) for words, one in ordered])


def _past_texts(tx: Tx, memory: Memory) -> Iterator[str]:
    """Yield the current and all previous texts of a memory, newest first."""
    yield memory.content
    yield from (version.content for version in reversed(versions.of(tx, memory.id)))


def _category(entry: LearningEntry) -> Kind:
    if entry.category is None:
        raise MalformedLearnings(entry.line, "is below none of the four headings")
    return entry.category


def _to_placed_entry(learning: Learning) -> PlacedPart:
    return PlacedPart(to_entry(learning.category, learning.day, learning.text), learning.id)


def _is_entry_of(entry: LearningEntry, learning: Learning) -> bool:
    wanted = to_entry(learning.category, learning.day, learning.text)
    return (entry.category, entry.day, entry.text) == (wanted.category, wanted.day, wanted.text)


def _line(learning: Learning) -> Line:
    return Line(learning.id, learning.category, line_digest(learning.text), learning.day)


def _lines(laid: Sequence[PlacedPart]) -> list[Line]:
    found: list[Line] = []
    for one in laid:
        piece = one.piece
        if isinstance(piece, LearningEntry) and one.memory_id and piece.category and piece.day:
            found.append(Line(one.memory_id, piece.category, line_digest(piece.text), piece.day))
    return found


def _check_layout(laid: Sequence[PlacedPart], text: str) -> None:
    """Check that the new file parses to the same entries; otherwise the next sync would see false changes."""
    meant = [replace(one.piece, raw="", line=0) for one in laid if isinstance(one.piece, LearningEntry)]
    if meant != [replace(one, raw="", line=0) for one in parse_learnings(text) if isinstance(one, LearningEntry)]:
        raise MalformedLearnings(
            1, "begins a file whose lines would be read differently; write its entries without indentation"
        )


def refresh_learnings(runtime: VaultRuntime) -> list[LearningsReport]:
    """Sync every existing file, at most once per interval; create no file."""
    if not runtime.throttle.is_due(runtime.settings.learnings.debounce_seconds, "learnings"):
        return []
    if runtime.home.owners is None:
        return []
    folder = files.owner_folder(runtime.home.owners, runtime.gate.owner)
    if not files.exists(folder):
        return []
    known = {*runtime.read(lambda tx, _: learnings.agents(tx)), *_agents_with_folders(folder)}
    reports: list[LearningsReport] = []
    for agent in sorted(known, key=lambda name: name or ""):
        if files.exists(learnings_path(runtime, agent)):
            # A disk that takes no writes must not keep a session from starting.
            with suppress(RecollectumError):
                reports.append(sync_learnings(runtime, agent))
    return reports


def _agents_with_folders(folder: Path) -> Iterator[str | None]:
    """Yield the agents whose file a person may have created before there was anything to show in it."""
    yield None
    for path in folder.glob("agent-*"):
        if name := files.agent_of_folder(path.name):
            yield name
