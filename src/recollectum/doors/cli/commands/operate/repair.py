"""`recollectum repair`: salvages the readable rows of a damaged vault, and keeps the damaged file."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, working
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import check_user, open_home

if TYPE_CHECKING:
    from recollectum.upkeep.backup.repair import RepairResult


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "repair")(repair)


def repair(
    run: Run,
    *,
    force: Annotated[bool, typer.Option("--force", help="Repair even if no fault is found.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Copy every readable row of a damaged vault into a new file, rebuild its index, and keep the old file.

    Close other programs that use the vault first. A backup, if you have one, loses less: recollectum restore.
    """
    # Imported here: no other command needs it.
    from recollectum.upkeep.backup.repair import repair as salvage  # noqa: PLC0415

    with open_home(run) as recollectum:
        owner = check_user(recollectum, run)
        admin = recollectum.admin
        if not confirm(f"the vault of {format_owner(owner)} is checked, and replaced by its readable rows", yes=yes):
            note("nothing was done")
            return
        with working(run, "repairing the vault"):
            done = salvage(admin, owner, force=force)
    answer(run, {"repair": done, "saved": done.saved, "lost": done.lost}, map(visible, _told(done)))
    if done.lost:
        note("what was lost is not in the damaged file; look for it in a backup")


def _told(done: "RepairResult") -> list[str]:
    if not done.faults:
        return [f"{format_owner(done.owner)}: nothing is wrong, and nothing was done"]
    lines = [f"found: {fault}" for fault in done.faults]
    for one in done.tables:
        if one.saved or one.lost or not one.exact:
            at_least = "" if one.exact else "at least "
            lines.append(f"{one.table}: {one.saved} saved, {at_least}{one.lost} lost")
    lines += [f"{table}: {count} dropped with the rows they belong to" for table, count in (done.dropped or {}).items()]
    if done.stand_ins:
        lines.append(f"{plural(done.stand_ins, 'lost session')} replaced by stand-ins that hold their messages")
    lines += [f"doubtful: {row} differs from what was written; check it" for row in done.doubtful]
    return [
        *lines,
        f"{plural(done.pieces, 'piece')} of the index rebuilt",
        f"the damaged file is at {done.evidence}",
    ]
