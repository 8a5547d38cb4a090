"""`recollectum verify`: checks the integrity of vaults, by structure or page by page."""

from typing import Annotated

import typer

from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer, note, step_progress
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import open_home, user_of


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
    from recollectum.upkeep.doctor.vault_checks import read_base, read_vault  # noqa: PLC0415

    with open_home(run) as recollectum:
        admin = recollectum.admin
        entries = admin.entries([user_of(recollectum, run)] if run.user else None)
        base = read_base(admin) if read_data and not run.user else ()
        with step_progress("reading", len(entries)) as advance:
            reports = [read_vault(admin, entry, data=read_data, progress=advance) for entry in entries]
    lines = [f"home: {fault}" for fault in base]
    for report in reports:
        lines += [f"{format_owner(report.owner)}: {'sound' if report.sound else 'not sound'}"]
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
