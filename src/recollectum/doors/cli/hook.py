"""`recollectum hook`: what an agent calls as it works; see `recollectum mcp install`."""

from typing import Annotated

import typer

from recollectum.doors.cli.asking import binary_stdin
from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.installing.agents import Agent


def add_to(app: typer.Typer) -> None:
    """Give the command to the program."""
    command(app, "hook")(hook)


def hook(
    run: Run,
    *,
    agent: Annotated[Agent, typer.Option(help="Whose hook it is.")] = Agent.CLAUDE_CODE,
    tokens: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=100_000, help="The most tokens to inject.")
    ] = None,
    within: Annotated[
        int, typer.Option(metavar="MS", min=1, max=60_000, help="How long the agent may be made to wait.")
    ] = 240,
) -> None:
    """Answer one event of an agent, which is JSON on stdin; it never fails, and never takes long."""
    # Only now: no other command has a use for it.
    from recollectum.doors.hook.front import Line, answered  # noqa: PLC0415

    line = Line(agent.value, run.user, run.home, tokens, within)
    print(answered(line, run.environ, binary_stdin()).decode(), end="")
