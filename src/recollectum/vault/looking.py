"""A brief look at the notes and transcripts before a search, and when a session begins."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from recollectum.domain.errors import StorageError
from recollectum.storage.tables import notes, transcripts
from recollectum.vault.footing import Footing

if TYPE_CHECKING:
    from recollectum.domain.note import SyncReport
    from recollectum.domain.transcript import TranscriptReport

#: What a search may wait for changed files of either kind; then it answers from what is there.
PATIENCE_SECONDS = 0.2


def look_before_search(footing: Footing) -> None:
    """Bring in what changed, as far as the settings want that before a search."""
    if footing.settings.notes.on_search == "on":
        look(footing)
    if footing.settings.transcripts.on_search == "on":
        look_at_transcripts(footing)


def look_at_session_start(footing: Footing) -> None:
    """Bring in what changed, as far as the settings want that when a session begins."""
    if footing.settings.notes.on_session_start == "on":
        look(footing)
    if footing.settings.transcripts.on_session_start == "on":
        look_at_transcripts(footing)
    if footing.settings.learnings.on_session_start == "on":
        # Only now: most programs never begin a session, and what reads the files takes a while to load.
        from recollectum.vault.learning_watch import look_at_learnings  # noqa: PLC0415

        look_at_learnings(footing)


def look(footing: Footing) -> "SyncReport | None":
    """Bring in changed notes, briefly and not too often; None when it is too soon or there is nothing to look at."""
    if not footing.looks.is_due(footing.settings.notes.debounce_seconds):
        return None
    if not footing.read(lambda tx, _: notes.folders(tx)):
        return None
    # Only now: most programs have no notes, and what reads them takes a while to load.
    from recollectum.vault.note_sync import sync  # noqa: PLC0415

    # A disk that takes no writes must not make the answer fail.
    with suppress(StorageError):
        return sync(footing, deadline=time.monotonic() + PATIENCE_SECONDS, cache=footing.looks.crawls)
    return None


def look_at_transcripts(footing: Footing) -> "TranscriptReport | None":
    """Read on in grown transcripts, under the same rules."""
    if not footing.looks.is_due(footing.settings.transcripts.debounce_seconds, "transcripts"):
        return None
    if not footing.read(lambda tx, _: transcripts.roots(tx)):
        return None
    # Only now, for the same reason.
    from recollectum.vault.transcript_sync_run import sync  # noqa: PLC0415

    with suppress(StorageError):
        return sync(footing, deadline=time.monotonic() + PATIENCE_SECONDS)
    return None
