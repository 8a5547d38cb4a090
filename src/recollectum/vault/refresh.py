"""Refreshes notes, transcripts and learnings before a search and when a session begins, and the index before a search.

A refresh is done by the vault itself. Its events name the actor `refresh` and not the caller whose search caused it: a
caller with read access only writes nothing under their own name.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.access.caller import Caller
from recollectum.domain.errors import StorageError
from recollectum.policy.clock import ClockReading
from recollectum.recall.index import waiting
from recollectum.storage.port import Tx
from recollectum.vault.runtime import VaultRuntime

if TYPE_CHECKING:
    from recollectum.domain.files.note import SyncReport
    from recollectum.domain.files.transcript import TranscriptReport

T = TypeVar("T")

#: How long a search may wait for changed files of either kind; then it answers from the stored state.
PATIENCE_SECONDS = 0.2
#: The actor of a refresh; it passes no gate, and no request is made in its name.
REFRESH = Caller(name="refresh", person=None, permissions=frozenset())


def refresh_before_search(runtime: VaultRuntime) -> None:
    """Sync changed files, if the settings want that before a search."""
    if runtime.settings.notes.on_search == "on":
        refresh_notes(runtime)
    if runtime.settings.transcripts.on_search == "on":
        refresh_transcripts(runtime)


def refresh_at_session_start(runtime: VaultRuntime) -> None:
    """Sync changed files, if the settings want that when a session begins."""
    if runtime.settings.notes.on_session_start == "on":
        refresh_notes(runtime)
    if runtime.settings.transcripts.on_session_start == "on":
        refresh_transcripts(runtime)
    if runtime.settings.learnings.on_session_start == "on":
        # Imported here: most programs never start a session, and the modules that read files are slow to import.
        from recollectum.vault.learnings.sync import refresh_learnings  # noqa: PLC0415

        refresh_learnings(runtime)


def refresh_notes(runtime: VaultRuntime) -> "SyncReport | None":
    """Sync changed notes within a time limit; None when it is too soon or there is nothing to sync."""
    if not runtime.throttle.is_due(runtime.settings.notes.debounce_seconds):
        return None
    # Imported here: a program that only saves does not need the file readers.
    from recollectum.storage.tables.content import notes  # noqa: PLC0415

    if not runtime.read(lambda tx, _: notes.folders(tx)):
        return None
    from recollectum.vault.notes.sync import sync_notes  # noqa: PLC0415

    # A disk that takes no writes must not make the answer fail.
    with suppress(StorageError):
        return sync_notes(
            _as_refresh(runtime), deadline=time.monotonic() + PATIENCE_SECONDS, cache=runtime.throttle.crawls
        )
    return None


def refresh_transcripts(runtime: VaultRuntime) -> "TranscriptReport | None":
    """Import new lines of transcripts, with the same limits."""
    if not runtime.throttle.is_due(runtime.settings.transcripts.debounce_seconds, "transcripts"):
        return None
    from recollectum.storage.tables.content import transcripts  # noqa: PLC0415 - imported only when needed

    if not runtime.read(lambda tx, _: transcripts.roots(tx)):
        return None
    from recollectum.vault.transcripts.sync import sync_transcripts  # noqa: PLC0415

    with suppress(StorageError):
        return sync_transcripts(_as_refresh(runtime), deadline=time.monotonic() + PATIENCE_SECONDS)
    return None


def read_indexed(runtime: VaultRuntime, work: Callable[[Tx, ClockReading], T]) -> tuple[T, str | None]:
    """Run `work` in one snapshot in which all texts are indexed that were there before; or say why not all are.

    It asks for what waits in the snapshot itself, because a search without any must not cost more than that.
    """

    states = runtime.indexed_states

    def whole(tx: Tx, reading: ClockReading) -> tuple[T] | None:
        return None if states.lacks(tx) else (work(tx, reading),)

    if found := runtime.read(whole, on_replica=True):
        return found[0], None
    try:
        waiting.index_found(runtime.database)
    except StorageError as error:
        why = str(error)
        done, left = runtime.read(lambda tx, reading: (work(tx, reading), waiting.count(tx)), on_replica=True)
        return done, f"{left} texts are not indexed yet and were not searched: {why}" if left else None
    return runtime.read(work, on_replica=True), None


def _as_refresh(runtime: VaultRuntime) -> VaultRuntime:
    """Return the same runtime with the refresh as the actor of its events."""
    return replace(runtime, gate=replace(runtime.gate, caller=REFRESH, look_up=None))
