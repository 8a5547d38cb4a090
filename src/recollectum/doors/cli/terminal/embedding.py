"""Embeds what a command has just written, with a progress bar, so that the next recall need not."""

import sys
from typing import TYPE_CHECKING

from recollectum.domain.errors import ModelError
from recollectum.doors.cli.terminal.flags import Run
from recollectum.doors.cli.terminal.output import note, step_progress
from recollectum.doors.cli.terminal.target import home_of
from recollectum.home.daemon import find_holder

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.vault import Vault

#: Chunks that are embedded without a terminal to show a progress bar on: some tens of seconds.
_MOST_UNSEEN = 2000
_LATER = "run: recollectum index update"


def embed_with_progress(run: Run, vault: "Vault") -> int:
    """Embed everything that has no vector yet, and return the number of chunks."""
    with step_progress(run, "embedding", _count_missing(vault) or None) as advance:
        return vault.admin.index.update(advance)


def embed_new(run: Run, vault: "Vault | ServedVault") -> None:
    """Embed what was just written, unless a server does it; whatever stops it, what was written stays."""
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415 - few commands write so much

    if isinstance(vault, ServedVault):
        return
    if vault.admin.index.status().without_meaning is not None or find_holder(home_of(run)) is not None:
        return
    missing = _count_missing(vault)
    if missing > _MOST_UNSEEN and not sys.stderr.isatty():
        note(f"about {missing} chunks are not yet in the semantic index; {_LATER}")
        return
    try:
        embed_with_progress(run, vault)
    except ModelError as error:
        note(f"not yet in the semantic index: {error}; when that is mended, {_LATER}")
    except KeyboardInterrupt:
        note(f"stopped; the rest is not yet in the semantic index; {_LATER}")


def _count_missing(vault: "Vault") -> int:
    found = vault.admin.index.status()
    return max((one.behind for one in found.generations if one.state != "previous"), default=found.pieces)
