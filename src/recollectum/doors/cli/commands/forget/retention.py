"""`recollectum retention`: sweeps as the hourly upkeep does, and reports what sweeps did."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.vault.retention.trash import Sweep

app = new_group("Sweep as the hourly upkeep does, and read what the sweeps did.")

_WAITS = "needs_confirmation"


@command(app, "run")
def run_retention(
    run: Run,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Agree that sweeps destroy what is past its grace window.")
    ] = False,
) -> None:
    """Sweep once; before anything is destroyed in this vault for the first time you are asked, later you are not."""
    with open_user_vault(run) as vault:
        swept = vault.privacy.trash.sweep(agreed=yes)
        if swept.state.value == _WAITS:
            if not confirm(_asked(swept), yes=yes):
                note("nothing was moved")
                raise typer.Exit(FAILED)
            swept = vault.privacy.trash.sweep(agreed=True)
    answer(run, {"sweep": swept}, _told(swept))
    if swept.state.value == "held":
        note("the clock is in doubt, and nothing was moved; see: recollectum lifecycle preview")
        raise typer.Exit(FAILED)


@command(app, "reports")
def reports(
    run: Run,
    *,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Only those before this one.")] = None,
) -> None:
    """List what the last sweeps did, in counts; newest first."""
    with open_user_vault(run) as vault:
        found = vault.privacy.trash.reports(before=before, limit=limit)
    rows = [
        (one.number, one.at, one.state, one.archived, one.deleted, one.marked, one.purged, one.waiting) for one in found
    ]
    headings = ("number", "when", "state", "archived", "deleted", "marked", "destroyed", "waiting")
    answer_rows(run, {"sweeps": found}, headings, rows)
    if not found:
        note("no sweep has run yet")
    elif found[0].state.value == _WAITS:
        note(f"{_asked(found[0])}; agree with: recollectum retention run --yes")


def _asked(swept: "Sweep") -> str:
    return f"{plural(swept.waiting, 'memory')} would be destroyed for good, for the first time in this vault"


def _told(swept: "Sweep") -> list[str]:
    counts = (
        (swept.archived, "archived"),
        (swept.deleted, "laid into the trash"),
        (swept.purged, "destroyed"),
    )
    return [f"{plural(count, 'memory')} {what}" for count, what in counts if count] or ["nothing moved"]
