"""`recollectum mcp install`: writes Recollectum into an agent's configuration, or removes it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.install.agents import HOOK_MODULE, InstallRequest, InstallScope, KnownAgent, documents
from recollectum.doors.cli.install.file_changes import FileChange, apply_changes, plan_changes
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, note, plural
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import USER_VARIABLE, account_name, home_of, settings_of
from recollectum.home.paths import Home, home_root

_AFTERWARDS = {
    KnownAgent.CODEX: "Codex runs a hook only once you trust it: start codex, type /hooks, trust those of Recollectum.",
    KnownAgent.CURSOR: "Cursor takes context from a hook at the start of a session only; at a prompt it records.",
    KnownAgent.CLAUDE_CODE: "Restart Claude Code to load the change.",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to its group."""
    command(app, "install")(install)


def install(
    run: Run,
    agent: Annotated[KnownAgent, typer.Argument(help="Which agent.")],
    *,
    scope: Annotated[
        InstallScope, typer.Option(help="For all work of this account, or for this project.")
    ] = InstallScope.USER,
    hooks: Annotated[bool, typer.Option("--hooks/--no-hooks", help="Recall and record without tool calls.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove what was written.")] = False,
) -> None:
    """Let an agent use this memory: its tools, and hooks that recall and record."""
    changes = plan_changes(documents(agent, _install_request(run, scope)), server=not undo, hooks=hooks and not undo)
    _show(run, changes)
    done = bool(changes) and not dry_run
    if done:
        done = confirm(f"{plural(len(changes), 'file')} of {agent} will be changed", yes=yes)
    copies = apply_changes(changes) if done else []
    answer(run, _document(agent, changes, copies, done=done), [])
    if not changes:
        note(f"{agent} is set up already; nothing to change")
    elif dry_run:
        note("nothing was changed; leave out --dry-run to do it")
    elif done:
        _tell_done(agent, copies, hooks=hooks and not undo)


def _install_request(run: Run, scope: InstallScope) -> InstallRequest:
    home = home_of(run)
    user = run.user or run.environ.get(USER_VARIABLE) or settings_of(run).settings.default_user or account_name()
    usual = Home(home_root(None, {**run.environ, "RECOLLECTUM_HOME": ""}))
    # The agent may be started without the variable that names another home.
    place = [] if home == usual else ["--home", str(home.root.absolute())]
    return InstallRequest(
        server=_program(),
        hook=[sys.executable, "-m", HOOK_MODULE],
        flags=["--user", user, *place],
        scope=scope,
        account=usual.root.parent,
        project=Path.cwd(),
        environ=run.environ,
    )


def _program() -> list[str]:
    """Return this installation's own program, wherever an agent is started from."""
    # Not resolved: the interpreter of a virtual environment is a link, and finds its packages by its own path.
    beside = Path(sys.executable).parent / ("recollectum.exe" if os.name == "nt" else "recollectum")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "recollectum.doors.cli.main"]


def _show(run: Run, changes: Sequence[FileChange]) -> None:
    if run.json:
        return
    for change in changes:
        for line in change.diff():
            print(visible(line))


def _document(
    agent: KnownAgent, changes: Sequence[FileChange], copies: Sequence[Path], *, done: bool
) -> dict[str, object]:
    files = [{"file": str(change.path), "diff": change.diff()} for change in changes]
    return {"agent": agent.value, "changed": done, "files": files, "backups": [str(copy) for copy in copies]}


def _tell_done(agent: KnownAgent, copies: Sequence[Path], *, hooks: bool) -> None:
    for copy in copies:
        note(f"the previous version is in {copy}")
    if hooks and agent in _AFTERWARDS:
        note(_AFTERWARDS[agent])
