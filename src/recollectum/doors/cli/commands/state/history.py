"""`recollectum history`: records the commands of shells by project, lists, searches and clears them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.agent_state.shell_command import NO_PROJECT
from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural, tell
from recollectum.doors.cli.terminal.projects import project_place
from recollectum.doors.cli.terminal.prompts import confirm, read_text_or_stdin
from recollectum.doors.cli.terminal.target import home_of, open_user_vault
from recollectum.home.project import find_root, project_id

if TYPE_CHECKING:
    from recollectum.domain.agent_state.shell_command import ShellCommand
    from recollectum.vault.vault import Vault

app = new_group("Keep the commands of your shells by project, and find them again.")

InProject = Annotated[
    str | None,
    typer.Option(metavar="PROJECT", help="Its name or its folder; default: the one around this folder, if any."),
]
Everywhere = Annotated[bool, typer.Option("--all", help="Of all projects, and of none.")]
Limit = Annotated[int, typer.Option(help="How many at most.")]
Before = Annotated[str | None, typer.Option(metavar="ID", help="Only those older than this one.")]


@command(app, "add")
def add(
    run: Run,
    line: Annotated[str, typer.Argument(metavar="COMMAND", help="The command that was run; `-` reads stdin.")],
    *,
    project: InProject = None,
) -> None:
    """Add a command that was run, of one or more lines; its secrets are replaced before it is stored."""
    text = read_text_or_stdin(line)
    with open_user_vault(run, create=True) as vault:
        added = vault.state.history.add(text, project=project_key(run, vault, project))
    answer(run, {"command": added, "notice": added.notice}, [added.id])
    tell(added.notice)


@command(app, "list")
def list_commands(
    run: Run, *, project: InProject = None, everywhere: Everywhere = False, limit: Limit = 50, before: Before = None
) -> None:
    """List the newest commands of a project."""
    _check(project, everywhere=everywhere)
    with open_user_vault(run) as vault:
        whose = _whose(run, vault, project, everywhere=everywhere)
        _show(run, vault, None, whose, limit, before)


@command(app, "search")
def search(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the commands contain, in any case.")],
    *,
    project: InProject = None,
    everywhere: Everywhere = False,
    limit: Limit = 50,
    before: Before = None,
) -> None:
    """List the newest commands of a project that contain a text."""
    if not text:
        raise Misuse("the text is empty; give a part of the command, or use: recollectum history list")
    _check(project, everywhere=everywhere)
    with open_user_vault(run) as vault:
        whose = _whose(run, vault, project, everywhere=everywhere)
        _show(run, vault, text, whose, limit, before)


@command(app, "clear")
def clear(
    run: Run,
    command_id: Annotated[str | None, typer.Argument(metavar="ID", help="Only this command.")] = None,
    *,
    project: InProject = None,
    everywhere: Everywhere = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Delete one command, those of a project, or all; `purge history` also gives a receipt."""
    _check(project, everywhere=everywhere)
    with open_user_vault(run) as vault:
        history = vault.state.history
        if command_id is not None:
            history.delete(command_id)
            count = 1
        else:
            whose = _whose(run, vault, project, everywhere=everywhere)
            what = "all projects" if whose is None else "this project" if whose else "no project"
            if not confirm(f"this deletes the shell commands of {what}", yes=yes):
                note("nothing was deleted")
                raise typer.Exit(FAILED)
            count = history.delete_all(project=whose)
    answer(run, {"deleted": count}, [f"{plural(count, 'command')} deleted"])


def project_key(run: Run, vault: "Vault", project: str | None) -> str:
    """Return the id of a project; without one, of the project around the working directory, if any."""
    if project is not None:
        place = project_place(project)
        # A folder that is no project yet has the id that it would get.
        found = vault.projects.find(place) if Path(place).is_dir() else vault.projects.get(place).project
        return found.id if found else project_id(Path(place))
    root = find_root(Path.cwd(), home_of(run), Path.home())
    if root is None:
        return NO_PROJECT
    found = vault.projects.find(str(root))
    return found.id if found else project_id(root)


def _check(project: str | None, *, everywhere: bool) -> None:
    if everywhere and project is not None:
        raise Misuse("--all and --project exclude each other; leave one out")


def _whose(run: Run, vault: "Vault", project: str | None, *, everywhere: bool) -> str | None:
    return None if everywhere else project_key(run, vault, project)


def _show(run: Run, vault: "Vault", text: str | None, project: str | None, limit: int, before: str | None) -> None:
    found = vault.state.history.list(project=project, text=text, cursor=before, limit=limit)
    rows = [(one.id, one.at, *([] if project is not None else [one.project[:12]]), _shown(one)) for one in found]
    headings = ("id", "run", *([] if project is not None else ["project"]), "command")
    answer_rows(run, {"commands": found, "next": found.next}, headings, rows)
    if not found:
        note("no commands")


def _shown(one: "ShellCommand") -> str:
    """Return a command on one line; the JSON has it as it was typed."""
    return " ⏎ ".join(one.command.splitlines())
