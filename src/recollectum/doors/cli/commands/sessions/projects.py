"""`recollectum projects`: lists, adds, shows, renames, links, trusts and forgets projects."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import system_clock
from recollectum.doors.cli.commands.people.status import project_status
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, moment, note, plural
from recollectum.doors.cli.terminal.projects import absolute_folder, project_place
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import home_of, open_user_vault
from recollectum.home.project import FOLDER, ProjectFolder, find_project
from recollectum.home.trusted_projects import set_trusted

if TYPE_CHECKING:
    from recollectum.domain.files.project import ListedProject

app = new_group("Keep what belongs to a folder apart: memories, conversations and checkpoints of a project.")

Named = Annotated[str, typer.Argument(metavar="PROJECT", help="Its name, its id, or a folder such as `.`.")]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The root of the project.")]
_SHOWN = 5


@command(app, "list")
def list_projects(run: Run) -> None:
    """List the projects with how much belongs to each."""
    with open_user_vault(run) as vault:
        found = vault.projects.list()
    rows = [
        (one.project.name, one.counts.memories, one.counts.sessions, one.counts.latest, one.project.root)
        for one in found
    ]
    answer_rows(run, {"projects": found}, ("name", "memories", "sessions", "latest", "folder"), rows)
    if not found:
        note("there is no project; add one with: recollectum projects add FOLDER")


@command(app, "add")
def add(
    run: Run,
    folder: Folder,
    *,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Its name; that of the folder by default.")] = None,
) -> None:
    """Register a folder as a project, and print its name."""
    with open_user_vault(run, create=True) as vault:
        made = vault.projects.add(absolute_folder(folder), name=name)
    answer(run, {"project": made}, [made.shown])


@command(app, "show")
def show(run: Run, project: Named) -> None:
    """Show where a project is and was, and what belongs to it."""
    place = project_place(project)
    with open_user_vault(run) as vault:
        found = vault.projects.get(place)
        sessions = vault.projects.list_sessions(found.project.id, limit=_SHOWN)
        checkpoints = vault.projects.list_checkpoints(found.project.id)
    document = {"project": found.project, "counts": found.counts, "sessions": sessions, "checkpoints": checkpoints}
    lines = listing(_facts(found))
    lines += [one_line(f"session {one.id}: {one.title or one.key}, {moment(one.updated_at)}") for one in sessions]
    lines += [one_line(f"checkpoint {one.name}: message {one.position} of {one.session_id}") for one in checkpoints]
    answer(run, document, lines)


@command(app, "rename")
def rename(
    run: Run, project: Named, name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")]
) -> None:
    """Give a project another name; everything that belongs to it stays."""
    with open_user_vault(run) as vault:
        made = vault.projects.rename(project_place(project), name)
    answer(run, {"project": made}, [made.shown])


@command(app, "link")
def link(run: Run, project: Named, folder: Folder) -> None:
    """Say where a project was moved to; what was saved at the old and at the new place belongs to it."""
    with open_user_vault(run) as vault:
        made = vault.projects.add_root(project_place(project), absolute_folder(folder))
    answer(run, {"project": made}, [one_line(f"{made.shown} is at {made.root} now")])


@command(app, "trust")
def trust(
    run: Run,
    folder: Folder,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Let the settings, policies and the rest in a project's `.recollectum` folder take effect; you see them first."""
    home, project = home_of(run), _folder_of(run, folder)
    seen = project_status(home, project, trusted=True)
    added = [name for names in seen.overrides.values() for name in names]
    for line in (["settings.toml"] if seen.settings_file else []) + added + seen.problems:
        note(line)
    if not confirm(f"what is in {project.root / FOLDER} would take effect in that folder", yes=yes):
        note("nothing was changed")
        raise typer.Exit(FAILED)
    set_trusted(home, project, system_clock())
    answer(run, {"trusted": seen}, [one_line(f"{project.root} is trusted")])


@command(app, "distrust")
def distrust(run: Run, folder: Folder) -> None:
    """Take the trust in a project back: nothing in its `.recollectum` folder takes effect."""
    project = _folder_of(run, folder)
    set_trusted(home_of(run), project, None)
    answer(run, {"distrusted": project.root}, [one_line(f"{project.root} is not trusted")])


def _folder_of(run: Run, folder: str) -> ProjectFolder:
    named = absolute_folder(folder)
    found = find_project(Path(named), home_of(run)) if named.strip() and "\0" not in named else None
    if found is None:
        raise InvalidInput(f"{folder!r} is in no folder with a {FOLDER} folder of yours; there is nothing to trust")
    return found


@command(app, "forget")
def forget(
    run: Run,
    project: Named,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would happen.")] = False,
) -> None:
    """Move a project's memories to the trash, and take it off the list; its conversations stay."""
    place = project_place(project)
    with open_user_vault(run) as vault:
        seen = vault.projects.preview(place)
        kept = f"{plural(seen.memories, 'memory')} to the trash; {plural(seen.sessions, 'conversation')} stay"
        if dry_run:
            answer(run, {"preview": seen}, [kept])
            return
        note(f"{kept}, and are served in this project only; `recollectum purge project` erases everything")
        if not confirm(f"this would forget the project {seen.project.shown}", yes=yes):
            note("nothing was forgotten")
            raise typer.Exit(FAILED)
        done = vault.projects.forget(seen.project.id)
    answer(run, {"forgotten": done}, [one_line(f"{done.project.shown} is forgotten: {kept}")])


def _facts(found: "ListedProject") -> list[tuple[str, object]]:
    project, counts = found.project, found.counts
    earlier = [one.root for one in project.roots if one.root != project.root]
    return [
        ("name", project.name or "none (forgotten)"),
        ("folder", project.root),
        *(("was at", one) for one in earlier),
        ("id", project.id),
        ("since", moment(project.added_at)),
        ("memories", counts.memories),
        ("sessions", counts.sessions),
        ("messages", counts.messages),
        ("checkpoints", counts.checkpoints),
        ("latest", moment(counts.latest)),
    ]
