"""`recollectum doctor`: reports what is wrong with the home, how bad it is, and what to do."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import NotFound, RecollectumError
from recollectum.doors.cli.commands.people.status import installed_version
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, working
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, open_home, user_of
from recollectum.upkeep.presence import check_made, has_vaults, is_made, place_of_catalog

if TYPE_CHECKING:
    from recollectum.upkeep.doctor.home_checks import HealthFinding

#: Nothing is broken, but something should be done.
WARNED = 3


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "doctor")(doctor)


def doctor(
    run: Run,
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read every page and every row as well.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Remove empty leftovers.")] = False,
) -> None:
    """Check everything that can go wrong, and explain it; exit code 1 for a problem, 3 for a warning, else 0."""
    # Imported here: no other command needs it.
    from recollectum.upkeep.doctor.home_checks import Severity, fine, worst  # noqa: PLC0415

    with working(run, "examining the home"):
        found = [fine("version", installed_version()), *_examined(run, deep=deep, fix=fix)]
    severity = worst(found)
    lines = [line for one in found for line in _told(one)]
    answer(run, {"severity": severity, "findings": found}, map(visible, lines))
    if severity is Severity.PROBLEM:
        raise typer.Exit(FAILED)
    if severity is Severity.WARNING:
        raise typer.Exit(WARNED)


def _examined(run: Run, *, deep: bool, fix: bool) -> "list[HealthFinding]":
    from recollectum.upkeep.doctor import home_checks  # noqa: PLC0415 - see above
    from recollectum.upkeep.doctor.examination import cannot_open, examine, telemetry  # noqa: PLC0415

    home = home_of(run)
    if not has_vaults(home):
        check_made(home)
    # Before the home is opened, because opening it corrects what it can.
    found = list(home_checks.permissions(home))
    if not is_made(home):
        place = place_of_catalog(home)
        lost = f"{place} is missing, but there are vaults whose owners only it names; restore it from a backup"
        return [*found, cannot_open(lost), telemetry()]
    try:
        with open_home(run) as recollectum:
            owners = [user_of(recollectum, run)] if run.user else None
            return found + examine(
                recollectum.admin,
                lambda owner: recollectum.vault(owner, create=False).admin.clock(),
                recollectum.settings,
                owners=owners,
                deep=deep,
                fix=fix,
            )
    except NotFound:
        # The user on the line, which is not a finding about the home.
        raise
    except RecollectumError as error:
        return [*found, cannot_open(str(error)), telemetry()]


def _told(one: "HealthFinding") -> list[str]:
    mark = "fixed" if one.fixed else one.severity.value
    lines = [f"{mark:<8} {one.topic}: {one.words}"]
    return lines if one.cure is None or one.fixed else [*lines, f"{'':<8} → {one.cure}"]
