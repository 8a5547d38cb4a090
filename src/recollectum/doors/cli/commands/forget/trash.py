"""`recollectum memories trash`: lists what was deleted, and restores it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.target import open_user_vault
from recollectum.doors.cli.terminal.times import parse_time, start_of_day

if TYPE_CHECKING:
    from recollectum.domain.memory import Memory

app = new_group("List deleted memories that can still be restored, and restore many at once.")

_On = Annotated[str | None, typer.Option("--deleted-on", metavar="DATE", help="Deleted on this day.")]
_Since = Annotated[str | None, typer.Option(metavar="DATE", help="Deleted at this time or later.")]
_Until = Annotated[str | None, typer.Option(metavar="DATE", help="Deleted before this time.")]
_Session = Annotated[str | None, typer.Option(metavar="ID", help="Learned from this session.")]


@command(app, "list")
def list_trash(
    run: Run, *, deleted_on: _On = None, since: _Since = None, until: _Until = None, session: _Session = None
) -> None:
    """List the trash, and when each memory is destroyed."""
    begin, end = _times(deleted_on, since, until)
    with open_user_vault(run) as vault:
        found = vault.privacy.trash.list(since=begin, until=end, session_id=session)
    _answer(run, found)
    if not found:
        note("the trash has no such memories")


@command(app, "restore")
def restore(
    run: Run,
    *,
    deleted_on: _On = None,
    since: _Since = None,
    until: _Until = None,
    session: _Session = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be restored.")] = False,
) -> None:
    """Restore all that was deleted in a period, or that came from a session; you see it first and are asked."""
    begin, end = _times(deleted_on, since, until)
    if begin is end is session is None:
        raise Misuse(
            "choose what to restore with --deleted-on, --since, --until or --session; for one memory: memories restore"
        )
    with open_user_vault(run) as vault:
        found = vault.privacy.trash.list(since=begin, until=end, session_id=session)
        if dry_run:
            _answer(run, found)
            return
        for one in found:
            note(f"{one.id}  {one.content}")
        if found and not confirm(f"{plural(len(found), 'memory')} would be active again", yes=yes):
            note("nothing was restored")
            raise typer.Exit(FAILED)
        done = vault.privacy.trash.restore(since=begin, until=end, session_id=session)
    document = {"memories": done.memories, "left": done.left}
    answer(run, document, [f"{one.id} is active again" for one in done.memories])
    for one in done.left:
        note(f"not restored: {one.why}")
    if not found:
        note("the trash has no such memories")
    if done.left and not done.memories:
        raise typer.Exit(FAILED)


def _times(day: str | None, since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    if day is None:
        return (None if since is None else parse_time(since)), (None if until is None else parse_time(until))
    if since is not None or until is not None:
        raise Misuse("give --deleted-on, or --since and --until, not both")
    begin = start_of_day(parse_time(day))
    # The next midnight: a day on which the clocks change has 23 or 25 hours.
    return begin, start_of_day(begin + timedelta(hours=36))


def _answer(run: Run, found: "list[Memory]") -> None:
    rows = [(one.id, one.deleted_at, one.hard_delete_at, one.kind, one.key, one.content) for one in found]
    headings = ("id", "deleted", "destroyed on", "kind", "key", "text")
    answer_rows(run, {"memories": found}, headings, rows, one_line_each=True)
