"""`recollectum upgrade`: migrates every vault to this program's schema."""

from typing import Annotated

import typer

from recollectum.domain.ids import system_clock
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer, working
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import open_home, settings_of
from recollectum.upkeep.presence import upgrade_databases


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "upgrade")(upgrade)


def upgrade(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the migrations without applying them.")] = False,
) -> None:
    """Migrate every vault to this program's schema, each after a backup; opening a vault does the same.

    On PostgreSQL it changes the one schema of all vaults, as the role of storage.migrator_url, and that of the keys
    database, as the role of storage.keys_migrator_url.
    """
    if settings_of(run).settings.storage.url:
        _upgrade_database(run, dry_run=dry_run)
        return
    with open_home(run) as recollectum, working(run, "upgrading vaults"):
        steps = recollectum.upgrade(dry_run=dry_run)
    did = "would take" if dry_run else "took"
    lines = [f"{format_owner(owner)} {did} {', '.join(names)}" for owner, names in steps.items()]
    document = {str(owner): names for owner, names in steps.items()}
    answer(run, {"dry_run": dry_run, "steps": document}, map(visible, lines or ["every vault is at this schema"]))


def _upgrade_database(run: Run, *, dry_run: bool) -> None:
    with working(run, "upgrading the database"):
        steps = upgrade_databases(settings_of(run).settings.storage, system_clock, dry_run=dry_run)
    did = "would take" if dry_run else "took"
    lines = [f"the {database} {did} {name}" for database, names in steps.items() for name in names]
    whole = [f"the {database} has every step of this program" for database in steps]
    answer(run, {"dry_run": dry_run, "steps": steps}, map(visible, lines or whole))
