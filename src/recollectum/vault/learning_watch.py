"""A look at the LEARNINGS.md files that are there: when a session begins, and by whatever runs in the background."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from recollectum.domain.learning import LearningsReport
from recollectum.storage.tables import learnings
from recollectum.vault import learning_files as files
from recollectum.vault.footing import Footing
from recollectum.vault.learning_sync import learnings_file, sync


def look_at_learnings(footing: Footing) -> list[LearningsReport]:
    """Sync every file that somebody made, not too often; no file is made here."""
    if not footing.looks.is_due(footing.settings.learnings.debounce_seconds, "learnings"):
        return []
    if footing.owners is None:
        return []
    folder = files.owner_folder(footing.owners, footing.gate.owner)
    if not files.exists(folder):
        return []
    known = {*footing.read(lambda tx, _: learnings.agents(tx)), *_by_hand(folder)}
    reports: list[LearningsReport] = []
    for agent in sorted(known, key=lambda name: name or ""):
        if files.exists(learnings_file(footing, agent)):
            # A disk that takes no writes must not keep a session from beginning.
            with suppress(RecollectumError):
                reports.append(sync(footing, agent))
    return reports


def _by_hand(folder: Path) -> Iterator[str | None]:
    """The agents whose file a person may have made before there was anything to show in it."""
    yield None
    for path in folder.glob("agent-*"):
        if name := files.plain_agent(path.name):
            yield name
