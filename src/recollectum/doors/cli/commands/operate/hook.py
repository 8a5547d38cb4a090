"""`recollectum hook`: answers one event of an agent's hook."""

from typing import Annotated

import typer

from recollectum.doors.cli.install.agents import KnownAgent
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.prompts import binary_stdin


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "hook")(hook)


def hook(
    run: Run,
    *,
    agent: Annotated[KnownAgent, typer.Option(help="The agent that calls the hook.")] = KnownAgent.CLAUDE_CODE,
    tokens: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=100_000, help="Maximum tokens to inject.")
    ] = None,
    within: Annotated[
        int, typer.Option(metavar="MS", min=1, max=60_000, help="Maximum time that the agent waits.")
    ] = 240,
) -> None:
    """Answer one event of an agent, read as JSON from stdin; it never fails, and never takes long."""
    # Imported here: no other command needs it.
    from recollectum.doors.hook.client import HookFlags, answer_event  # noqa: PLC0415

    line = HookFlags(agent.value, run.user, run.home, tokens, within)
    print(answer_event(line, run.environ, binary_stdin()).decode(), end="")
