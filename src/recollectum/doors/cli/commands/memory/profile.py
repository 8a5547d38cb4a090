"""`recollectum memories profile`: shows who the person is, in a few bullets with their sources."""

from typing import Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, note
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "profile")(profile)


def profile(
    run: Run,
    *,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The profile that this agent sees.")] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Rebuild it, even if nothing has changed.")] = False,
) -> None:
    """Show what a new session starts with: the most important facts, each line with its memories."""
    with open_user_vault(run) as vault:
        made = vault.admin.profile.find(agent=agent, refresh=refresh)
    lines = [one_line(f"- {one.text} ({', '.join(one.memory_ids)})") for one in made.bullets] if made else []
    answer(run, {"profile": made}, lines)
    note(f"by: {made.by}" if made else "nothing is known yet; tell it something with: recollectum remember TEXT")
