"""`recollectum verify`: whether vaults are as they were written, by structure or to the last page."""

from typing import Annotated

import typer

from recollectum.doors.cli.edge import FAILED
from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.output import answer, note
from recollectum.doors.cli.owners import spelled
from recollectum.doors.cli.progress import stepped
from recollectum.doors.cli.target import opened, user_of
from recollectum.doors.cli.visible import visible


def add_to(app: typer.Typer) -> None:
    """Give the command to the app."""
    command(app, "verify")(verify)


def verify(
    run: Run,
    *,
    read_data: Annotated[bool, typer.Option("--read-data", help="Read every page and every row as well.")] = False,
) -> None:
    """Check every vault, or the one of --user; exit code 1, and what is wrong, when one is not sound."""
    # Only now: what reads whole vaults is of no use to any other command.
    from recollectum.upkeep.doctor_reading import read_base, read_vault  # noqa: PLC0415

    with opened(run) as recollectum:
        grounds = recollectum.grounds()
        entries = grounds.entries([user_of(recollectum, run)] if run.user else None)
        base = read_base(grounds) if read_data and not run.user else ()
        with stepped("reading", len(entries)) as advance:
            reports = [read_vault(grounds, entry, data=read_data, progress=advance) for entry in entries]
    lines = [f"home: {fault}" for fault in base]
    for report in reports:
        lines += [f"{spelled(report.owner)}: {'sound' if report.sound else 'not sound'}"]
        lines += [f"  {fault}" for fault in report.faults]
        lines += [f"  lost earlier: {gap}" for gap in report.gaps]
    sound = not base and all(report.sound for report in reports)
    document = {"sound": sound, "read_data": read_data, "home": base, "vaults": reports}
    answer(run, document, map(visible, lines or ["there is no vault yet"]))
    if not sound:
        note(
            "salvage what can be read with: recollectum repair --user NAME; or bring back a backup: recollectum restore"
        )
        raise typer.Exit(FAILED)
