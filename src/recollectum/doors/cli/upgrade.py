"""`recollectum upgrade`: bring every vault to this program's schema."""

from typing import Annotated

import typer

from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.output import answer
from recollectum.doors.cli.target import opened
from recollectum.doors.cli.visible import visible


def add_to(app: typer.Typer) -> None:
    """Give the command to the app."""
    command(app, "upgrade")(upgrade)


def upgrade(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the steps, and take none.")] = False,
) -> None:
    """Bring every vault to this program's schema, each after a backup; opening a vault does the same."""
    with opened(run) as recollectum:
        steps = recollectum.upgrade(dry_run=dry_run)
    did = "would take" if dry_run else "took"
    lines = [f"{path.name} {did} {', '.join(names)}" for path, names in steps.items()]
    answer(run, {"dry_run": dry_run, "steps": steps}, map(visible, lines or ["every vault is at this schema"]))
