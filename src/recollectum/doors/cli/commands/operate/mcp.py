"""`recollectum mcp`: serves the vault over the Model Context Protocol, and imports a knowledge graph."""

from typing import Annotated, cast

import typer

from recollectum.doors.cli.install import mcp_install
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, note_flags
from recollectum.doors.cli.terminal.output import answer, note, tell
from recollectum.doors.cli.terminal.target import open_user_vault
from recollectum.doors.mcp.stdio_main import PROFILES, StdioFlags, serve_stdio

app = typer.Typer(
    help="Serve the vault to an agent over stdin and stdout, and set agents up for it.",
    rich_markup_mode=None,
    add_completion=False,
)
mcp_install.add_to(app)


@app.callback(invoke_without_command=True)
def serve(
    ctx: typer.Context,
    *,
    profile: Annotated[
        str, typer.Option(help="default, or graph: the nine tools of the reference memory server.")
    ] = "default",
    json: Annotated[bool, typer.Option("--json", help="Answer as JSON.")] = False,
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose vault; a name or an owner.")] = None,
    home: Annotated[str | None, typer.Option("--home", metavar="PATH", help="The state directory.")] = None,
) -> None:
    """Serve the vault to an agent over stdin and stdout, until it closes them.

    The daemon does the work if one runs, else this process.
    """
    note_flags(ctx, json=json, user=user, home=home)
    if profile not in PROFILES:
        raise Misuse(f"there is no profile {profile!r}; use {' or '.join(PROFILES)}")
    if ctx.invoked_subcommand is None:
        run = cast("Run", ctx.obj)
        raise typer.Exit(serve_stdio(StdioFlags(run.user, run.home, profile), run.environ))


@command(app, "import-graph")
def import_graph(
    run: Run,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The JSONL file of the reference memory server.")],
) -> None:
    """Import the file of the reference memory server into the vault; what is there already is not doubled."""
    # Imported here: few commands import a graph.
    from recollectum.doors.mcp.knowledge_graph.file_import import import_file  # noqa: PLC0415

    with open_user_vault(run, create=True) as vault:
        report = import_file(vault, file)
    answer(
        run,
        {"report": report},
        [f"{report.added} added, {report.known} known already, {len(report.damaged)} lines could not be read"],
    )
    for number in report.damaged[:20]:
        note(f"line {number} is neither an entity nor a relation")
    tell(report.notice)
