"""`recollectum grow`: a look at all memories, whose proposals wait in the review inbox."""

from typing import Annotated

import typer

from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.output import answer_rows, note
from recollectum.doors.cli.target import opened_vault


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "grow")(grow)


def grow(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be proposed; lay nothing in.")] = False,
) -> None:
    """Propose to merge memories that say the same, and to replace those that cannot both hold. You decide."""
    with opened_vault(run) as vault:
        laid = [] if dry_run else vault.review.grow()
        found = vault.review.analyse() if dry_run else [one.finding for one in laid]
    ids = [one.id for one in laid] or [None] * len(found)
    rows = [(name, one.act, one.reason, one.content) for name, one in zip(ids, found, strict=True)]
    document = {"findings": found} if dry_run else {"proposals": laid}
    answer_rows(run, document, ("id", "act", "reason", "content"), rows)
    if not found:
        note("nothing to propose")
