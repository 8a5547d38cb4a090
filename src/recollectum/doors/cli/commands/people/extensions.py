"""`recollectum extensions`: installs what others wrote for agents, and shows what each may do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, note
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollectum.domain.files.extension import Extension, ExtensionPreview
    from recollectum.domain.message import Json

app = new_group("Install what others wrote for agents, and see what each may do.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the extension.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
_Project = Annotated[bool, typer.Option("--project", help="Only in the current project.")]


@command(app, "list")
def list_extensions(run: Run) -> None:
    """List the extensions with their states, and what is wrong with each."""
    with open_home(run) as recollectum:
        found = recollectum.extensions.list()
    rows = [(one.name, one.version, one.state, "; ".join(one.problems)) for one in found]
    answer_rows(run, {"extensions": found}, ("name", "version", "state", "problems"), rows)
    if not found:
        note("no extensions")


@command(app, "show")
def show(run: Run, name: _Name) -> None:
    """Show one extension: where it came from, what it may do, and which files changed."""
    with open_home(run) as recollectum:
        found = recollectum.extensions.get(name)
    answer(run, {"extension": found}, _lines(found))


@command(app, "install")
def install(
    run: Run,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder, or a zip, tar.gz or tar.zst file.")],
    *,
    yes: _Yes = False,
) -> None:
    """Show what an extension brings and may do, ask, and install it in one step."""
    with open_home(run) as recollectum:
        preview = recollectum.extensions.preview(path)
        if not _agreed(run, preview, "installs", yes=yes):
            return
        made = recollectum.extensions.install(path, preview.token)
    answer(run, {"extension": made}, [one_line(f"{made.name} {made.version} is installed and {made.state}")])


@command(app, "trust")
def trust(run: Run, name: _Name, *, yes: _Yes = False) -> None:
    """Agree to a folder that was copied into place by hand, or to files that changed."""
    with open_home(run) as recollectum:
        preview = recollectum.extensions.preview_trust(name)
        if not _agreed(run, preview, "agrees to the files of", yes=yes):
            return
        made = recollectum.extensions.trust(name, preview.token)
    answer(run, {"extension": made}, [one_line(f"{made.name} {made.version} is trusted and {made.state}")])


@command(app, "update")
def update(
    run: Run,
    name: _Name,
    *,
    from_: Annotated[str | None, typer.Option("--from", metavar="PATH", help="Another folder or archive.")] = None,
    downgrade: Annotated[bool, typer.Option("--downgrade", help="Allow an older version.")] = False,
    yes: _Yes = False,
) -> None:
    """Install the present files of the folder or archive that an extension came from; its switches stay."""
    with open_home(run) as recollectum:
        source = Path(from_) if from_ is not None else recollectum.extensions.source_of(name)
        preview = recollectum.extensions.preview(source)
        if not _agreed(run, preview, "updates", yes=yes):
            return
        made = recollectum.extensions.update(name, preview.token, source=source, downgrade=downgrade)
    answer(run, {"extension": made}, [one_line(f"{made.name} {made.version} is installed and {made.state}")])


@command(app, "enable")
def enable(run: Run, name: _Name, *, project: _Project = False) -> None:
    """Enable an extension, everywhere or in the current project."""
    _switch(run, name, enabled=True, project=project)


@command(app, "disable")
def disable(run: Run, name: _Name, *, project: _Project = False) -> None:
    """Disable an extension, everywhere or in the current project; its files stay."""
    _switch(run, name, enabled=False, project=project)


@command(app, "uninstall")
def uninstall(run: Run, name: _Name, *, yes: _Yes = False) -> None:
    """Delete an extension and its files from the home."""
    with open_home(run) as recollectum:
        if not confirm(f"this deletes the extension {name!r} and its files from the home", yes=yes):
            answer(run, {"deleted": None}, ["nothing was deleted"])
            return
        gone = recollectum.extensions.delete(name)
    answer(run, {"deleted": gone.name}, [one_line(f"{gone.name} is deleted")])


@command(app, "mcp")
def mcp(run: Run) -> None:
    """List the MCP servers for agents: your own from mcp.json, then those of enabled extensions."""
    with open_home(run) as recollectum:
        found = recollectum.extensions.merged()
    # In the form that agents have in their own configuration.
    document = {
        "mcpServers": {one.name: one.config for one in found.servers},
        "from": {one.name: one.extension for one in found.servers},
        "variables": {one.name: one.variables for one in found.servers if one.variables},
        "conflicts": found.conflicts,
        "problems": found.problems,
    }
    rows = [(one.name, one.extension or "you", _address(one.config)) for one in found.servers]
    answer_rows(run, document, ("server", "from", "starts"), rows)
    _remarks(run, (*found.conflicts, *found.problems))


@command(app, "files")
def files(run: Run) -> None:
    """List the commands, skills, agents and context files for agents, your own before those of extensions."""
    with open_home(run) as recollectum:
        found = recollectum.extensions.merged()
    document = {"files": found.files, "conflicts": found.conflicts, "problems": found.problems}
    rows = [(one.kind, one.name, one.extension or "you", one.path) for one in found.files]
    answer_rows(run, document, ("kind", "name", "from", "path"), rows)
    _remarks(run, (*found.conflicts, *found.problems))


def _switch(run: Run, name: str, *, enabled: bool, project: bool) -> None:
    with open_home(run) as recollectum:
        found = recollectum.extensions.switch(name, enabled=enabled, in_project=project)
    where = "in this project" if project else "everywhere"
    words = f"{found.name} is {'enabled' if enabled else 'disabled'} {where}"
    answer(run, {"extension": found}, [one_line(words)])
    if found.problems:
        _remarks(run, found.problems)


def _agreed(run: Run, preview: "ExtensionPreview", deed: str, *, yes: bool) -> bool:
    """Show a preview and ask; say so when the answer is no."""
    if not run.json:
        for line in _preview_lines(preview):
            note(line)
    if confirm(f"this {deed} {preview.name} {preview.version}, which may do all of that", yes=yes):
        return True
    answer(run, {"extension": None}, ["nothing was changed"])
    return False


def _preview_lines(preview: "ExtensionPreview") -> list[str]:
    before = f" (now {preview.replaces})" if preview.replaces else ""
    told = f": {preview.description}" if preview.description else ""
    lines = [f"{preview.name} {preview.version}{before}{told}", f"{preview.files} files, {preview.bytes} bytes"]
    lines += [f"- {one}" for one in preview.may] or ["- does nothing by itself"]
    lines += [f"needs {one.variable}: {one.name}{' (secret)' if one.secret else ''}" for one in preview.settings]
    return lines + [f"without effect here: {one}" for one in preview.ignored]


def _lines(found: "Extension") -> list[str]:
    pairs: list[tuple[str, object]] = [
        ("name", found.name),
        ("state", found.state),
        ("version", found.version),
        ("description", found.description or None),
        ("folder", found.folder),
        ("source", found.source),
        ("installed", found.installed_at),
        ("projects", ", ".join(f"{key[:12]}: {_on(on)}" for key, on in found.projects.items()) or None),
        *(("may", one) for one in found.may),
        *(("changed", one) for one in found.changed),
        *(("problem", one) for one in found.problems),
    ]
    return listing(pairs)


def _on(value: object) -> str:
    return "enabled" if value else "disabled"


def _address(config: "Mapping[str, Json]") -> str:
    return str(config.get("command") or config.get("url") or config.get("httpUrl") or "")


def _remarks(run: Run, sentences: tuple[str, ...]) -> None:
    if not run.json:
        for one in sentences:
            note(f"recollectum: {one}")
