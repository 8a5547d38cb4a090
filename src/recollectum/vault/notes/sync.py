"""Syncs Markdown files into the vault in short transactions, and watches their folders for changes."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.domain.files.note import Note, NoteFolder, SyncReport
from recollectum.domain.hit import SourceKind
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading
from recollectum.recall.index.chunk_index import index_note, reindex_note, rename_note
from recollectum.recall.index.passages import note_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import notes
from recollectum.storage.tables.index import chunks, embedding_cache
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.files.crawl import Crawl, FoundFile, crawl, unreadable_reason
from recollectum.vault.files.crawl_cache import CrawlCache
from recollectum.vault.files.text_files import UnreadableFile, content_digest, decode, modification_time, read_bytes
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.intake import Intake
from recollectum.vault.runtime import VaultRuntime

#: Files that are read and stored in one transaction.
_BATCH = 32
_BATCH_BYTES = 1 << 18
#: A file written this shortly before it was read may have been written again since, within one clock tick.
_TICK = timedelta(seconds=2)
#: The outcomes by which the text of a file is stored; a file that is as before tells nothing again.
_STORED = ("added", "changed")


@dataclass(frozen=True, slots=True)
class _SeenFile:
    """A file on disk, and its note, if there is one already."""

    folder: str
    found: FoundFile
    note: Note | None


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file with its content."""

    seen: _SeenFile
    hash: str
    modified_at: datetime
    size: int
    text: AdmittedText
    notice: Notice


@dataclass(slots=True)
class _SyncRun:
    """One sync of the folders: its limits, and its results so far."""

    most: int
    deadline: float | None
    cache: CrawlCache | None
    ttl_seconds: float
    tell: Callable[[int], None]
    counts: Counter[str] = field(default_factory=Counter[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    #: Notes whose file is gone, unless it is found under another name.
    gone: list[Note] = field(default_factory=list[Note])
    notice: Notice = NO_NOTICE

    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def crawl(self, folder: NoteFolder) -> Crawl | None:
        """Return the files of a folder; None when the deadline has passed."""
        root = Path(folder.path)
        if self.cache:
            found = self.cache.find(root, most=self.most, ttl_seconds=self.ttl_seconds, deadline=self.deadline)
        else:
            found = crawl(root, most=self.most, deadline=self.deadline)
        if found:
            self.skipped += [(str(root / path), why) for path, why in found.skipped]
        return found

    def compare(self, folder: str, found: Crawl, known: dict[str, Note]) -> Iterator[_SeenFile]:
        """Yield the files that must be read."""
        for file in found.files:
            note = known.pop(file.path, None)
            if note and _is_settled(note, file):
                self.counts["unchanged"] += 1
                self.tell(1)
            else:
                yield _SeenFile(folder, file, note)
        self.gone += [note for note in known.values() if not found.may_hold(Path(folder), note.path)]

    def read(self, seen: _SeenFile, intake: Intake) -> _ReadFile | None:
        """Return a file with its text; an unreadable file keeps its note, and a file that is not text loses it."""
        path = Path(seen.folder) / seen.found.path
        begun = intake.tally.mark()
        try:
            data, state = read_bytes(path, self.most)
            text = intake.note(decode(data))
        except FileNotFoundError:
            # The file was deleted in the meantime.
            self.gone += [seen.note] if seen.note else []
            return None
        except OSError as error:
            self.skipped.append((str(path), unreadable_reason(error)))
            return None
        except UnreadableFile as error:
            self.skipped.append((str(path), str(error)))
            self.gone += [seen.note] if seen.note else []
            return None
        notice = intake.tally.notice(begun)
        return _ReadFile(seen, content_digest(data), modification_time(state), state.st_size, text, notice)

    def report(self, *, complete: bool) -> SyncReport:
        """Return the report of the sync."""
        return SyncReport(
            added=self.counts["added"],
            changed=self.counts["changed"],
            renamed=self.counts["renamed"],
            removed=self.counts["removed"],
            unchanged=self.counts["unchanged"],
            skipped=tuple(sorted(self.skipped)),
            complete=complete,
            notice=self.notice,
        )


def sync_notes(
    runtime: VaultRuntime,
    progress: Callable[[int], None] | None = None,
    *,
    deadline: float | None = None,
    cache: CrawlCache | None = None,
) -> SyncReport:
    """Sync every folder; after an interruption the finished part stays, and the next sync does the rest."""
    rules = runtime.settings.notes
    one = _SyncRun(rules.max_kib * 1024, deadline, cache, rules.debounce_seconds, progress or (lambda _: None))
    work: list[_SeenFile] = []
    folders = runtime.read(lambda tx, _: notes.folders(tx))
    other = runtime.files.elsewhere(found=any(Path(folder.path).is_dir() for folder in folders))
    if other is not None:
        return SyncReport(kept_by=other)
    for folder in folders:
        found = one.crawl(folder)
        if found is None:
            return one.report(complete=False)
        known = runtime.read(lambda tx, _, f=folder: notes.of_folder(tx, f.path))
        work += one.compare(folder.path, found, {note.path: note for note in known})
    for batch in _batches(work):
        if one.is_over():
            return one.report(complete=False)
        _store(runtime, one, batch)
        one.tell(len(batch))
    if one.gone and runtime.files.elsewhere() is not None:
        # Taken over meanwhile: what is missing here may be there.
        return one.report(complete=False)
    # Last, after reading every file that could be one of these under another name.
    for start in range(0, len(one.gone), _BATCH):
        gone = one.gone[start : start + _BATCH]
        one.counts["removed"] += runtime.write(lambda tx, _, g=gone: remove_notes(tx, g), frees=True)
    return one.report(complete=True)


def _batches(work: Iterable[_SeenFile]) -> Iterator[list[_SeenFile]]:
    """Yield the files in batches that are limited in number and size."""
    batch: list[_SeenFile] = []
    size = 0
    for seen in work:
        if len(batch) == _BATCH or (batch and size + seen.found.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(seen)
        size += seen.found.size
    if batch:
        yield batch


def _store(runtime: VaultRuntime, look: _SyncRun, batch: Iterable[_SeenFile]) -> None:
    """Read some files, and store them in one transaction."""
    with Intake(runtime) as intake:
        read = [one for seen in batch if (one := look.read(seen, intake))]
        if read:
            counts, taken, notice = runtime.write(lambda tx, reading: _write(tx, reading, read, list(look.gone)))
            look.notice += notice
            look.counts += counts
            look.gone = [note for note in look.gone if note.number not in taken]


def _write(
    tx: Tx, reading: ClockReading, batch: Iterable[_ReadFile], pool: list[Note]
) -> tuple[Counter[str], set[int], Notice]:
    """Store a batch; return counts by outcome, the numbers of the notes that were only renamed, and the notice."""
    counts: Counter[str] = Counter()
    notice = NO_NOTICE
    taken: set[int] = set()
    followed = {folder.path for folder in notes.folders(tx)}
    for one in batch:
        # Another process may have synced the files since they were compared, or unfollowed the folder.
        if one.seen.folder not in followed:
            continue
        standing = notes.find(tx, one.seen.folder, one.seen.found.path)
        old = None if standing else next((note for note in pool if note.hash == one.hash), None)
        if old:
            pool.remove(old)
            taken.add(old.number)
            # Another process may have handled it: then this file is new.
            old = _if_unchanged(tx, old)
        outcome = _store_one(tx, one, standing, old, reading.now)
        counts[outcome] += 1
        if outcome in _STORED:
            notice += one.notice
    return counts, taken, notice


def remove_notes(tx: Tx, gone: Iterable[Note]) -> int:
    """Remove notes from the vault and the index; return how many."""
    removed = 0
    for note in gone:
        if _if_unchanged(tx, note) is None:
            continue
        embedding_cache.forget(tx, note_hashes(notes.text(tx, note.number)))
        chunks.remove(tx, SourceKind.NOTES, note.number)
        removed += notes.remove(tx, note.number)
    if removed:
        mark_remains_due(tx)
    return removed


def _if_unchanged(tx: Tx, note: Note) -> Note | None:
    """Return the note, unless another process has renamed, changed or removed it since."""
    found = notes.find(tx, note.folder, note.path)
    return note if found and (found.number, found.hash) == (note.number, note.hash) else None


def _is_settled(note: Note, file: FoundFile) -> bool:
    same = note.modified_at == file.modified_at and note.size == file.size
    return same and note.synced_at - note.modified_at > _TICK


def _store_one(tx: Tx, one: _ReadFile, standing: Note | None, old: Note | None, now: datetime) -> str:
    """Store one file; return the name of the outcome."""
    known = standing or old
    note = Note(
        number=known.number if known else 0,
        folder=one.seen.folder,
        path=one.seen.found.path,
        hash=one.hash,
        modified_at=one.modified_at,
        size=one.size,
        synced_at=now,
    )
    if standing and standing.hash == one.hash:
        notes.move(tx, note)
        return "unchanged"
    if old:
        notes.move(tx, note)
        rename_note(tx, note.number, note.path, notes.text(tx, note.number))
        return "renamed"
    if standing:
        _drop_removed_vectors(tx, note.number, one.text)
        notes.update(tx, note, one.text)
        reindex_note(tx, note.number, note.path, one.text)
        return "changed"
    index_note(tx, notes.insert(tx, note, one.text), note.path, one.text)
    return "added"


def _drop_removed_vectors(tx: Tx, number: int, text: str) -> None:
    """Keep the vectors of chunks that still exist; erase those of removed chunks."""
    embedding_cache.forget(tx, note_hashes(notes.text(tx, number)) - note_hashes(text))
    mark_remains_due(tx)


_POLL_SECONDS = 1.0
_MINUTE = 60


def watch_notes(runtime: VaultRuntime, stop: threading.Event, progress: Callable[[SyncReport], None]) -> None:
    """Sync once, then after each change once the folders are quiet, and at every interval."""
    rules = runtime.settings.notes
    poll = min(_POLL_SECONDS, rules.debounce_seconds or _POLL_SECONDS)
    synced = seen = _folders_signature(runtime)
    progress(_sync_once(runtime))
    last = changed = time.monotonic()
    while not stop.wait(poll):
        now = time.monotonic()
        current = _folders_signature(runtime) if rules.watch == "on" else synced
        if current != seen:
            seen, changed = current, now
        rested = seen != synced and now - changed >= rules.debounce_seconds
        due = rules.interval_minutes and now - last >= rules.interval_minutes * _MINUTE
        if rested or due:
            progress(_sync_once(runtime))
            synced, last = current, now


def _sync_once(runtime: VaultRuntime) -> SyncReport:
    report = sync_notes(runtime)
    erase_remains(runtime)
    return report


def _folders_signature(runtime: VaultRuntime) -> list[tuple[str, tuple[FoundFile, ...]]]:
    """Return the state of every file, as far as it is known without reading the file."""
    most = runtime.settings.notes.max_kib * 1024
    folders = runtime.read(lambda tx, _: notes.folders(tx))
    walks = ((folder.path, crawl(Path(folder.path), most=most)) for folder in folders)
    return [(path, found.files if found else ()) for path, found in walks]
