"""Bringing LEARNINGS.md and the vault together: what changed in either since the last time is taken over by the other.

All of it is one transaction, and the file is replaced at its end. If it is cut short after that, the next sync finds a
file that says what the vault says already, or says it first; nothing is doubled and nothing is lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollectum.domain.learning import Learning, LearningsReport, Line
from recollectum.domain.memory import Kind, Memory
from recollectum.policy.clock import Reading
from recollectum.policy.learning_lines import digest
from recollectum.policy.learnings import Merge, merge
from recollectum.storage.port import Tx
from recollectum.storage.tables import learnings, memories, versions
from recollectum.text.learnings_file import BrokenFile, Entry, Other, Piece, new_file, parse, to_entry
from recollectum.text.learnings_layout import Changes, Placed, lay_out, text_of
from recollectum.vault import learning_files as files
from recollectum.vault.footing import Footing
from recollectum.vault.learning_saving import Keeper, keeper, load, to_learning, today
from recollectum.vault.note_files import Unfit

_ATTEMPTS = 3
_BOTH = "Conflict: the next two lines were one, changed here and in the vault. Keep one, and delete this line."
_GONE = "Conflict: the next line was changed here and forgotten in the vault. Keep it or not, and delete this line."
_BACK = "Conflict: the next line was removed here and changed in the vault. Keep it or not, and delete this line."


def learnings_file(footing: Footing, agent: str | None) -> Path:
    """Where the file of one agent is, or of what all agents share."""
    folder = files.owner_folder(footing.owners, footing.gate.owner)
    return files.agent_folder(folder, agent) / files.LEARNINGS


def sync(footing: Footing, agent: str | None) -> LearningsReport:
    """Take over what changed on either side; a file that cannot be read is left alone, and the report says why."""
    path = learnings_file(footing, agent)
    owner = files.owner_folder(footing.owners, footing.gate.owner)

    def at(tx: Tx, reading: Reading) -> _Sync:
        return _Sync(files.read(path), owner, keeper(tx, reading, footing, agent))

    try:
        if footing.read(lambda tx, reading: at(tx, reading).is_idle()):
            return LearningsReport(path=path)
        for _ in range(_ATTEMPTS):
            try:
                return footing.write(lambda tx, reading: at(tx, reading).run())
            except files.ChangedMeanwhile:
                continue
    except (Unfit, BrokenFile) as error:
        return LearningsReport(path=path, problem=f"{path}: {error}")
    return LearningsReport(path=path, problem=f"{path}: is being written by another program; sync it again later")


class _Sync:
    """One sync in one transaction."""

    def __init__(self, read: files.Read, owner: Path, keeper: Keeper) -> None:
        self._read = read
        self._owner = owner
        self._keeper = keeper
        self._tx = keeper.change.tx
        is_new = read.state is None
        self._pieces: list[Piece] = new_file() if is_new else parse(read.text)
        self._entries = [piece for piece in self._pieces if isinstance(piece, Entry)]
        self._memories = load(self._tx, keeper.agent, keeper.reading)
        self._known = {one.id: to_learning(self._tx, one) for one in self._memories.values()}
        # A file that is not there says nothing: it is written again, and nothing is forgotten.
        self._base: Sequence[Line] = [] if is_new else learnings.lines(self._tx, keeper.agent)
        self._today = today(keeper.reading)
        self._merge = merge(self._base, self._entries, self._known, self._before(), self._today)

    def is_idle(self) -> bool:
        """Whether there is nothing to do on either side."""
        done = self._merge
        if self._read.state is None or done.clashes or done.added or done.edited or done.forgotten or done.dropped:
            return False
        shown = {place: self._known[one] for place, one in done.standing.items()}
        as_before = all(_shows(self._entries[place], one) for place, one in shown.items())
        lines = [_line(one) for _, one in sorted(shown.items())]
        return as_before and not done.unseen and not done.days and lines == list(self._base)

    def run(self) -> LearningsReport:
        """Change the vault, then the file, then note what the file shows."""
        self._check_shape()
        done = self._merge
        changes = self._changes(self._take_over(done))
        laid = lay_out(self._pieces, changes)
        text = text_of(laid)
        _check_layout(laid, text)
        written = self._read.state is None or text != self._read.text
        if written:
            files.replace(self._read, text, (self._owner.parent, self._owner, self._read.path.parent))
        learnings.save_lines(self._tx, self._keeper.agent, _lines(laid))
        return LearningsReport(
            path=self._read.path,
            added=len(done.added),
            edited=len(done.edited),
            forgotten=len(done.forgotten),
            clashes=tuple(done.clashes.values()),
            written=written,
        )

    def _before(self) -> dict[str, str]:
        """The texts of the last sync, as far as the vault still has them."""
        found: dict[str, str] = {}
        for line in self._base:
            memory = self._memories.get(line.memory_id) or memories.find(self._tx, line.memory_id)
            for text in _texts(self._tx, memory) if memory else ():
                if digest(text) == line.digest:
                    found[line.memory_id] = text
                    break
        return found

    def _check_shape(self) -> None:
        """Refuse to forget learnings because a heading was lost or misspelled."""
        if self._base and not any(isinstance(one, Other) and one.opens for one in self._pieces):
            raise BrokenFile(1, "begins a file with none of the four headings; put them back, or delete the file")
        gone = {line.digest for line in self._base if line.memory_id in self._merge.forgotten}
        for entry in self._entries:
            if entry.category is None and digest(entry.text) in gone:
                raise BrokenFile(
                    entry.line, "is a learning below a heading that is none of the four; correct the heading"
                )

    def _take_over(self, done: Merge) -> dict[int, Learning]:
        """Change the vault; the learning that each entry shows from now on."""
        shown: dict[int, Learning] = {}
        for place in done.added:
            entry = self._entries[place]
            shown[place] = self._keeper.add(entry.text, _category(entry), entry.day or self._today)
        for place, memory_id in done.edited.items():
            entry = self._entries[place]
            day = done.days.get(memory_id, self._known[memory_id].day)
            shown[place] = self._keeper.edit(self._memories[memory_id], entry.text, _category(entry), day)
        for memory_id in done.forgotten:
            self._keeper.forget(self._memories[memory_id])
        for place, memory_id in done.standing.items():
            shown[place] = self._dated(self._memories[memory_id], done)
        return shown

    def _dated(self, memory: Memory, done: Merge) -> Learning:
        day, known = done.days.get(memory.id), self._known[memory.id]
        return known if day in (None, known.day) else self._keeper.redate(memory, day)

    def _changes(self, shown: dict[int, Learning]) -> Changes:
        done = self._merge
        places: dict[int, Placed | None] = dict.fromkeys(done.dropped)
        new = [(_BACK if one in done.clashes else "", self._known[one]) for one in done.unseen]
        remarks: dict[int, tuple[str, Placed | None]] = {}
        for place, learning in shown.items():
            moved = learning.category is not self._entries[place].category
            places[place] = None if moved else _placed(learning)
            new += [("", learning)] if moved else []
        for place, clash in done.clashes.items():
            if isinstance(place, int):
                other = self._known.get(clash.memory_id)
                beside = other if other and other.category is self._entries[place].category else None
                remarks[place] = (_BOTH if other else _GONE, _placed(beside) if beside else None)
                new = [(words, one) for words, one in new if not beside or one.id != beside.id]
        ordered = sorted(new, key=lambda one: (one[1].day, one[1].id), reverse=True)
        return Changes(places, remarks, [(words, _placed(one)) for words, one in ordered])


def _texts(tx: Tx, memory: Memory) -> Iterator[str]:
    """What a memory says and has said, newest first."""
    yield memory.content
    yield from (version.content for version in reversed(versions.of(tx, memory.id)))


def _category(entry: Entry) -> Kind:
    if entry.category is None:
        raise BrokenFile(entry.line, "stands below none of the four headings")
    return entry.category


def _placed(learning: Learning) -> Placed:
    return Placed(to_entry(learning.category, learning.day, learning.text), learning.id)


def _shows(entry: Entry, learning: Learning) -> bool:
    wanted = to_entry(learning.category, learning.day, learning.text)
    return (entry.category, entry.day, entry.text) == (wanted.category, wanted.day, wanted.text)


def _line(learning: Learning) -> Line:
    return Line(learning.id, learning.category, digest(learning.text), learning.day)


def _lines(laid: Sequence[Placed]) -> list[Line]:
    found: list[Line] = []
    for one in laid:
        piece = one.piece
        if isinstance(piece, Entry) and one.memory_id and piece.category and piece.day:
            found.append(Line(one.memory_id, piece.category, digest(piece.text), piece.day))
    return found


def _check_layout(laid: Sequence[Placed], text: str) -> None:
    """What was laid out must be read back as the same, or the next sync would see changes that nobody made."""
    meant = [replace(one.piece, raw="", line=0) for one in laid if isinstance(one.piece, Entry)]
    if meant != [replace(one, raw="", line=0) for one in parse(text) if isinstance(one, Entry)]:
        raise BrokenFile(1, "begins a file whose lines would be read otherwise; write its entries without indentation")
