"""Adds and removes note folders, lists notes, and starts their sync and watch."""

import builtins
import os
import threading
from collections.abc import Callable
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.files.note import Note, NoteFolder, SyncReport
from recollectum.domain.page import Page, cut_page, number_of
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import notes
from recollectum.storage.tables.trail import events
from recollectum.text.cleaning import clean
from recollectum.vault.erasure import erase_remains
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.service import VaultService

_LONGEST_SHOWN = 200


class Notes(VaultService):
    """The notes of one vault."""

    # Files are read with the rights of this process, so write permission for a vault is not enough.
    @operation(Action.FILE_FOLLOW, Scope.USER, also=(Action.NOTE_WRITE,))
    def add_folder(self, folder: str | os.PathLike[str]) -> NoteFolder:
        """Follow a folder from now on; the next sync reads its notes. A second call changes nothing."""
        path = _existing_folder(folder)
        self._runtime.files.check_here(f"folder {_display_path(path)}")

        def change(tx: Tx, reading: ClockReading) -> NoteFolder:
            for other in notes.folders(tx):
                if path != Path(other.path) and _is_nested(path, Path(other.path)):
                    raise Conflict(
                        f"folder {str(path)!r} and {other.path!r}, which is followed already, are inside one another; "
                        "follow only one"
                    )
            added = notes.add_folder(tx, str(path), reading.now)
            return self._tell(tx, EventType.CREATED, str(path), reading, happened=added)

        return self._runtime.write(change)

    @operation(Action.NOTE_WRITE, Scope.USER)
    def remove_folder(self, folder: str | os.PathLike[str]) -> int:
        """Unfollow a folder and remove its notes from the vault; return how many. The files stay unchanged."""
        # Imported in each method: most programs have no notes, and the module is slow to import.
        from recollectum.vault.notes.sync import remove_notes  # noqa: PLC0415

        path = _resolve_folder(folder)

        def change(tx: Tx, reading: ClockReading) -> int:
            known = {one.path for one in notes.folders(tx)}
            # A folder that was moved away is found by its former path.
            wanted = next((one for one in (str(path), os.fspath(folder)) if one in known), None)
            if wanted is None:
                raise NotFound(f"folder {_display_path(path)} is not followed; `notes list` shows the ones that are")
            removed = remove_notes(tx, notes.of_folder(tx, wanted))
            self._tell(tx, EventType.DELETED, wanted, reading, happened=True)
            notes.remove_folder(tx, wanted)
            return removed

        removed = self._runtime.write(change, frees=True)
        erase_remains(self._runtime)
        return removed

    @operation(Action.NOTE_READ, Scope.USER)
    def list_folders(self) -> builtins.list[NoteFolder]:
        """Return the followed folders, by path."""
        return self._runtime.read(lambda tx, _: notes.folders(tx))

    @operation(Action.NOTE_READ, Scope.USER)
    def list(self, *, cursor: str | None = None, limit: int = 50) -> Page[Note]:
        """Return the notes in the order in which they were added."""
        size = check_limit(limit, MAX_PAGE)
        after = number_of(cursor) or 0
        found = self._runtime.read(lambda tx, _: notes.page(tx, after=after, limit=size + 1))
        return cut_page(found, size, lambda one: one.number)

    @operation(Action.NOTE_WRITE, Scope.USER)
    def sync(self, progress: Callable[[int], None] | None = None) -> SyncReport:
        """Sync the vault with the folders; `progress` gets the number of files done."""
        from recollectum.vault.notes.sync import sync_notes  # noqa: PLC0415

        report = sync_notes(self._runtime, progress)
        erase_remains(self._runtime)
        return report

    @operation(Action.NOTE_WRITE, Scope.USER)
    def watch(self, stop: threading.Event, progress: Callable[[SyncReport], None] | None = None) -> None:
        """Sync whenever the folders change, a moment after the last change, until `stop` is set."""
        from recollectum.vault.notes.sync import watch_notes  # noqa: PLC0415

        watch_notes(self._runtime, stop, progress or (lambda _: None))

    def _tell(self, tx: Tx, type: EventType, path: str, reading: ClockReading, *, happened: bool) -> NoteFolder:
        folder = next(one for one in notes.folders(tx) if one.path == path)
        if happened:
            events.add(tx, type, "notes", f"folder_{folder.number}", at=reading.now, actor=self._runtime.actor)
        return folder


def _resolve_folder(folder: str | os.PathLike[str]) -> Path:
    text = os.fspath(folder)
    if not text or clean(text) != text:
        raise InvalidInput(f"folder {_display_path(text)} has a name that cannot be stored; give a path in UTF-8")
    try:
        return Path(text).resolve()
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"folder {_display_path(text)} cannot be found; give the path of a folder") from None


def _display_path(folder: str | os.PathLike[str]) -> str:
    text = clean(os.fspath(folder))
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def _existing_folder(folder: str | os.PathLike[str]) -> Path:
    path = _resolve_folder(folder)
    try:
        is_dir = path.is_dir()
    except OSError:
        # A name too long for the system, or a folder without permission.
        is_dir = False
    if not is_dir or clean(str(path)) != str(path):
        raise InvalidInput(f"folder {_display_path(folder)} is not there, or is not a folder; give the path of one")
    return path


def _is_nested(path: Path, other: Path) -> bool:
    return path.is_relative_to(other) or other.is_relative_to(path)
