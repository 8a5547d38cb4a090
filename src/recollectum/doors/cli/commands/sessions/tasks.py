"""`recollectum tasks`: saves the tasks of agent servers with their workspaces, and loads, lists and deletes them."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, moment, note, plural, step_progress
from recollectum.doors.cli.terminal.prompts import confirm, read_text_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.files.task import Task, TaskSweep
    from recollectum.domain.message import Json

app = new_group("Keep the tasks of agent servers: data and an archive of the workspace for each.")

_Id = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
_MIB = 2**20


@command(app, "save")
def save(
    run: Run,
    task: _Id,
    *,
    data: Annotated[
        str | None, typer.Option(metavar="JSON", help="What to keep of it: a JSON object, or - to read one.")
    ] = None,
    workspace: Annotated[str | None, typer.Option(metavar="FOLDER", help="The folder to archive.")] = None,
    create: Annotated[bool, typer.Option("--create", help="Refuse a task that exists.")] = False,
    expect: Annotated[
        int | None, typer.Option(metavar="VERSION", help="Refuse when it has another version.", min=1)
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Store every part again, also those stored before.")] = False,
) -> None:
    """Save a task; without --data or --workspace, those that it has stay."""
    if create and expect is not None:
        raise Misuse("--create and --expect contradict each other; give one of them")
    if fresh and workspace is None:
        raise Misuse("--fresh stores the parts of a workspace again; give --workspace too")
    given = None if data is None else _parsed(read_text_or_stdin(data))
    with open_user_vault(run) as vault, _byte_progress(run, "saving") as progress:
        version = 0 if create else expect
        made = (
            vault.tasks.save(task, given, version=version)
            if workspace is None
            else vault.tasks.save_workspace(
                task, Path(workspace).expanduser(), given, version=version, fresh=fresh, progress=progress
            )
        )
    answer(run, {"task": made}, [one_line(f"{made.id}: version {made.version}{_size_words(made)}")])
    for path, why in made.workspace.left_out if made.workspace else ():
        note(visible(f"left out: {path} ({why})"))


@command(app, "load")
def load(
    run: Run,
    task: _Id,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder that is empty or does not exist.")],
) -> None:
    """Write the workspace of a task into a new folder, which appears when it is whole."""
    target = Path(folder).expanduser()
    with open_user_vault(run) as vault, _byte_progress(run, "loading") as progress:
        found = vault.tasks.extract(task, target, progress=progress)
    document = {"task": found, "folder": str(target)}
    answer(run, document, [one_line(f"{found.id}: version {found.version}{_size_words(found)} in {target}")])


@command(app, "list")
def list_tasks(
    run: Run,
    *,
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most.")] = 50,
    cursor: Annotated[str | None, typer.Option(metavar="CURSOR", help="Where a page begins: `next` of --json.")] = None,
) -> None:
    """List the tasks with their sizes and ages."""
    from recollectum.domain.page import Cursor  # noqa: PLC0415 - only a list has pages

    with open_user_vault(run) as vault:
        found = vault.tasks.list(limit=limit, cursor=None if cursor is None else Cursor(cursor))
    now = datetime.now(UTC)
    rows = [
        (one.id, one.version, _mib(one.stored_bytes), one.workspace.files if one.workspace else 0, _age(now, one))
        for one in found
    ]
    document = {"tasks": [_without_data(one) for one in found], "next": found.next}
    answer_rows(run, document, ("id", "version", "stored", "files", "saved"), rows)
    if not found:
        note("there is no task; save one with: recollectum tasks save TASK --workspace FOLDER")
    if found.next and not run.json:
        note(f"there are more; continue with: recollectum tasks list --cursor {found.next}")


@command(app, "show")
def show(run: Run, task: _Id) -> None:
    """Show a task: its data, its times and what its workspace holds."""
    with open_user_vault(run) as vault:
        found = vault.tasks.get(task)
    space = found.workspace
    pairs: list[tuple[str, object]] = [
        ("task", found.id),
        ("version", found.version),
        ("created", moment(found.created_at)),
        ("saved", f"{moment(found.saved_at)} by {found.saved_by}"),
        ("workspace", "none" if space is None else f"{plural(space.files, 'file')}, {_mib(space.bytes)}"),
        ("stored", _mib(found.stored_bytes)),
        ("data", json.dumps(found.data, ensure_ascii=False)),
    ]
    pairs += [("left out", f"{path} ({why})") for path, why in (space.left_out if space else ())]
    answer(run, {"task": found}, [visible(line) for line in listing(pairs)])


@command(app, "delete")
def delete(run: Run, task: _Id, *, yes: _Yes = False) -> None:
    """Delete a task and its workspace at once."""
    with open_user_vault(run) as vault:
        found = vault.tasks.get(task)
        if not confirm(f"the task {found.id}{_size_words(found)} would be deleted for good", yes=yes):
            note("nothing was deleted")
            raise typer.Exit(FAILED)
        vault.tasks.delete(task, version=found.version)
    answer(run, {"deleted": found.id}, [one_line(f"{found.id} is deleted")])


@command(app, "retain")
def retain(
    run: Run,
    *,
    days: Annotated[int | None, typer.Option(metavar="N", help="Keep tasks saved in these days; 0 keeps all.")] = None,
    count: Annotated[int | None, typer.Option(metavar="N", help="Keep this many, the newest; 0 keeps all.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    yes: _Yes = False,
) -> None:
    """Delete tasks by age and number, and what interrupted saves left; the settings decide unless you say more."""
    with open_user_vault(run) as vault:
        seen = vault.tasks.preview_retention(days=days, count=count)
        if dry_run:
            _answer_sweep(run, seen, "would be deleted")
            return
        for task, why in seen.tasks:
            note(visible(f"{task}: {why}"))
        if seen.tasks and not confirm(f"{plural(len(seen.tasks), 'task')} would be deleted for good", yes=yes):
            note("nothing was deleted")
            raise typer.Exit(FAILED)
        done = vault.tasks.run_retention(days=days, count=count)
    _answer_sweep(run, done, "deleted")


def _answer_sweep(run: Run, sweep: "TaskSweep", what: str) -> None:
    lines = [one_line(f"{task}: {why}") for task, why in sweep.tasks]
    lines.append(f"{plural(len(sweep.tasks), 'task')} {what}, {_mib(sweep.bytes)}")
    if sweep.leftovers:
        lines.append(f"{plural(sweep.leftovers, 'leftover object')} {what}, {_mib(sweep.leftover_bytes)}")
    answer(run, {"retention": sweep}, lines)


@contextmanager
def _byte_progress(run: Run, what: str) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the bytes done so far, which a terminal sees in MiB."""
    with step_progress(run, f"{what} (MiB)", None) as advance:
        shown = [0]

        def progress(done: int) -> None:
            advance(done // _MIB - shown[0])
            shown[0] = done // _MIB

        yield progress


def _parsed(text: str) -> "Mapping[str, Json]":
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Misuse('--data is not a JSON object; write one such as \'{"state": "working"}\', or - to read it')
    return cast("Mapping[str, Json]", found)


def _without_data(task: "Task") -> dict[str, object]:
    """Return what a list shows of a task: its data may be large."""
    return {
        "id": task.id,
        "version": task.version,
        "created_at": task.created_at,
        "saved_at": task.saved_at,
        "saved_by": task.saved_by,
        "workspace": task.workspace,
    }


def _size_words(task: "Task") -> str:
    space = task.workspace
    return "" if space is None else f", {plural(space.files, 'file')}, {_mib(space.stored_bytes)} stored"


def _mib(count: int) -> str:
    return f"{count / _MIB:.1f} MiB"


def _age(now: datetime, task: "Task") -> str:
    age = now - task.saved_at
    if age.days:
        return f"{plural(age.days, 'day')} ago"
    return f"{max(0, age.seconds) // 3600}:{max(0, age.seconds) // 60 % 60:02} h ago"
