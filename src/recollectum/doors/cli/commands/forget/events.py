"""`recollectum events`: lists the audit trail of a vault."""

from typing import Annotated

import typer

from recollectum.domain.event import EventType
from recollectum.domain.ids import parse_optional_enum
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer_rows, note
from recollectum.doors.cli.terminal.target import open_user_vault

_LARGEST = 2**63 - 1


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "events")(events)


def events(
    run: Run,
    *,
    type_: Annotated[str | None, typer.Option("--type", help="Only created, edited, purged … events.")] = None,
    limit: Annotated[int, typer.Option(help="How many events at most.")] = 50,
    before: Annotated[
        int | None, typer.Option(min=1, max=_LARGEST, metavar="NUMBER", help="Only those before this number.")
    ] = None,
) -> None:
    """List what happened, newest first. Events name things by id and never contain their content."""
    with open_user_vault(run) as vault:
        wanted = parse_optional_enum(EventType, type_, "event type")
        found = vault.admin.events.list(type=wanted, cursor=None if before is None else str(before), limit=limit)
    rows = [(event.number, event.at, event.type, event.subject_id, event.actor, event.state) for event in found]
    answer_rows(run, {"events": found}, ("number", "when", "type", "what", "by", "state"), rows)
    if not found:
        note("no events")
