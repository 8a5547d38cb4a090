"""`recollectum mcp install`: write Recollectum into an agent's configuration, and take it out again."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.asking import confirm
from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.installing.agents import HOOK_MODULE, Agent, Scope, Wanted, documents
from recollectum.doors.cli.installing.changing import Change, carry_out, plan
from recollectum.doors.cli.output import answer, note, plural
from recollectum.doors.cli.target import USER_VARIABLE, account_name, home_of, settings_of
from recollectum.doors.cli.visible import visible
from recollectum.home.paths import Home, home_root

_AFTERWARDS = {
    Agent.CODEX: "Codex runs a hook only once you trust it: start codex, type /hooks, and trust those of Recollectum.",
    Agent.CURSOR: "Cursor takes context from a hook at the start of a session only; at a prompt it records.",
    Agent.CLAUDE_CODE: "Sessions that are running take it up when they are started again.",
}


def add_to(app: typer.Typer) -> None:
    """Give the command to its group."""
    command(app, "install")(install)


def install(
    run: Run,
    agent: Annotated[Agent, typer.Argument(help="Which agent.")],
    *,
    scope: Annotated[Scope, typer.Option(help="For all work of this account, or for this project.")] = Scope.USER,
    hooks: Annotated[bool, typer.Option("--hooks/--no-hooks", help="Recall and record without tool calls.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take out what was written.")] = False,
) -> None:
    """Let an agent use this memory: its tools, and hooks that recall and record."""
    changes = plan(documents(agent, _wanted(run, scope)), server=not undo, hooks=hooks and not undo)
    _show(run, changes)
    done = bool(changes) and not dry_run
    if done:
        done = confirm(f"{plural(len(changes), 'file')} of {agent} will be changed", yes=yes)
    copies = carry_out(changes) if done else []
    answer(run, _document(agent, changes, copies, done=done), [])
    if not changes:
        note(f"{agent} is as it should be; nothing to change")
    elif dry_run:
        note("nothing was changed; leave out --dry-run to do it")
    elif done:
        _tell_done(agent, copies, hooks=hooks and not undo)


def _wanted(run: Run, scope: Scope) -> Wanted:
    home = home_of(run)
    user = run.user or run.environ.get(USER_VARIABLE) or settings_of(run).settings.default_user or account_name()
    usual = Home(home_root(None, {**run.environ, "RECOLLECTUM_HOME": ""}))
    # The agent may be started where the variable that names another home is not set.
    place = [] if home == usual else ["--home", str(home.root.absolute())]
    return Wanted(
        server=_program(),
        hook=[sys.executable, "-m", HOOK_MODULE],
        flags=["--user", user, *place],
        scope=scope,
        account=usual.root.parent,
        project=Path.cwd(),
        environ=run.environ,
    )


def _program() -> list[str]:
    """This installation's own program, wherever an agent is started from."""
    # Not resolved: the interpreter of a virtual environment is a link, and knows its packages by its own place.
    beside = Path(sys.executable).parent / ("recollectum.exe" if os.name == "nt" else "recollectum")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "recollectum.doors.cli.main"]


def _show(run: Run, changes: Sequence[Change]) -> None:
    if run.json:
        return
    for change in changes:
        for line in change.diff():
            print(visible(line))


def _document(agent: Agent, changes: Sequence[Change], copies: Sequence[Path], *, done: bool) -> dict[str, object]:
    files = [{"file": str(change.path), "diff": change.diff()} for change in changes]
    return {"agent": agent.value, "changed": done, "files": files, "backups": [str(copy) for copy in copies]}


def _tell_done(agent: Agent, copies: Sequence[Path], *, hooks: bool) -> None:
    for copy in copies:
        note(f"what was there before is in {copy}")
    if hooks and agent in _AFTERWARDS:
        note(_AFTERWARDS[agent])
