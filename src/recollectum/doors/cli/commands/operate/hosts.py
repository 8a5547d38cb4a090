"""`recollectum daemon hosts`: shows which host keeps the files of shared vaults, and takes them over."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import check_user, open_home

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.engine import Recollectum

app = new_group("Show which host keeps notes, transcripts and LEARNINGS.md, and take them over.")


@command(app, "list")
def list_hosts(run: Run) -> None:
    """List the hosts that keep files of vaults in this database, and how many vaults."""
    with open_home(run) as recollectum:
        shared = recollectum.admin.opened.hosts
        here = shared.here.id if shared else None
        found = recollectum.admin.list_hosts()
    rows = [(one.name, one.vaults, one.seen_at, "here" if one.id == here else "") for one in found]
    answer_rows(run, {"here": here, "hosts": found}, ("host", "vaults", "seen", ""), rows)
    if here is None:
        note("the vaults are files of this host, and no other host uses them")
    elif not found:
        note("no host keeps files of a vault")


@command(app, "take")
def take(
    run: Run,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Of all vaults, not of one user's alone.")] = False,
) -> None:
    """Keep notes, transcripts and LEARNINGS.md of a vault on this host from now on.

    The next sync compares the vault with the folders at the same paths here: files that are missing there are removed
    from the vault. No learning is forgotten.
    """
    with open_home(run) as recollectum:
        owners = [one.owner for one in recollectum.admin.entries()] if everything else [check_user(recollectum, run)]
        taken = {str(owner): _take(recollectum, owner) for owner in owners}
    lines = [
        one_line(f"the files of {owner}, which {before} kept, are kept here now")
        for owner, before in taken.items()
        if before
    ]
    answer(run, {"taken": taken}, lines or ["nothing to take over: no other host kept these files"])


def _take(recollectum: "Recollectum", owner: "Owner") -> str | None:
    return recollectum.vault(owner).admin.file_hosts.take()
