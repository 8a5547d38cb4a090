"""`recollectum diff`: shows what was learned, changed and forgotten since a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, moment, note, plural
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault
from recollectum.doors.cli.terminal.times import parse_time

if TYPE_CHECKING:
    from recollectum.vault.undo.diff import Diff


def add_to(app: typer.Typer) -> None:
    """Give the command to the program."""
    command(app, "diff")(diff)


def diff(
    run: Run,
    *,
    since: Annotated[str, typer.Option(metavar="DATE", help="2026-11-15, or with a time.")],
) -> None:
    """Show what was learned (+), changed (- and +), restored (+) and forgotten (-) since a time."""
    when = parse_time(since)
    with open_user_vault(run) as vault:
        found = vault.privacy.undo.diff(when)
    answer(run, {"diff": found}, map(one_line, _lines(found)))
    counts = (
        (len(found.learned), "learned"),
        (len(found.changed), "changed"),
        (len(found.restored), "restored"),
        (len(found.forgotten), "forgotten"),
    )
    told = [f"{plural(count, 'memory')} {what}" for count, what in counts if count]
    note(f"{', '.join(told) or 'nothing changed'} since {moment(when)}")


def _lines(found: "Diff") -> Iterator[str]:
    for one in (*found.learned, *found.restored):
        yield f"+ {one.id} {one.content}"
    for pair in found.changed:
        yield f"- {pair.before.id} {pair.before.content}"
        yield f"+ {pair.after.id} {pair.after.content}"
    for gone in found.forgotten:
        yield f"- {gone.memory_id} {gone.memory.content if gone.memory else '...'} ({gone.state})"
