"""A brief look at the notes before a search, and when a session begins."""

import time
from contextlib import suppress

from recollect.domain.errors import StorageError
from recollect.domain.note import SyncReport
from recollect.storage.tables import notes
from recollect.vault.footing import Footing

#: What a search may wait for changed notes; then it answers from what is there.
PATIENCE_SECONDS = 0.2


def look(footing: Footing) -> SyncReport | None:
    """Bring in changed notes, briefly and not too often; None when it is too soon or there is nothing to look at."""
    if not footing.looks.is_due(footing.settings.notes.debounce_seconds):
        return None
    if not footing.read(lambda tx, _: notes.folders(tx)):
        return None
    # Only now: most programs have no notes, and what reads them takes a while to load.
    from recollect.vault.note_sync import sync  # noqa: PLC0415

    # A disk that takes no writes must not make the answer fail.
    with suppress(StorageError):
        return sync(footing, deadline=time.monotonic() + PATIENCE_SECONDS, cache=footing.looks.crawls)
    return None
