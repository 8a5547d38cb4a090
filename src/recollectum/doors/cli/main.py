"""Builds the command line from all commands, and runs one line of it."""

import io
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, cast

import typer
from typer.core import TyperGroup

from recollectum.doors.cli.benchmark import bench
from recollectum.doors.cli.chat import chat
from recollectum.doors.cli.commands.forget import (
    events,
    lifecycle,
    purge,
    quarantine,
    receipts,
    trash,
    undo,
)
from recollectum.doors.cli.commands.learn import consolidate, index, notes, review
from recollectum.doors.cli.commands.memory import contacts, context, learnings, memories, profile, recall, remember
from recollectum.doors.cli.commands.operate import (
    backup,
    connect,
    console,
    daemon,
    doctor,
    export,
    hook,
    hosts,
    mcp,
    move,
    repair,
    restore,
    serve,
    upgrade,
)
from recollectum.doors.cli.commands.people import (
    credentials,
    encryption,
    extensions,
    grants,
    init,
    keys,
    models,
    policy,
    settings,
    status,
    tenants,
    users,
)
from recollectum.doors.cli.commands.sessions import (
    checkpoints,
    export_import,
    imports,
    projects,
    sessions,
    tasks,
    transcripts,
)
from recollectum.doors.cli.commands.state import accounts, history, state
from recollectum.doors.cli.terminal.errors import check_arguments, run_guarded
from recollectum.doors.cli.terminal.flags import note_flags
from recollectum.doors.cli.terminal.help import RootGroup, as_typed

PROGRAM = "recollectum"


@cache
def program() -> TyperGroup:
    """Return all commands, as the parser has them."""
    return cast("TyperGroup", typer.main.get_command(_build()))


def _build() -> typer.Typer:
    # Plain help: rich would make it slower, and unreadable without colour.
    app = typer.Typer(name=PROGRAM, cls=RootGroup, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_root)
    for one in (init, status, remember, recall, context, chat, consolidate):
        one.add_to(app)
    memories.add_history_to(memories.app)
    profile.add_to(memories.app)
    memories.app.add_typer(trash.app, name="trash")
    export_import.add_to(sessions.app)
    sessions.app.add_typer(checkpoints.app, name="checkpoints")
    sessions.app.add_typer(transcripts.app, name="transcripts")
    purge.app.add_typer(receipts.app, name="receipts")
    users.app.add_typer(tenants.app, name="tenants")
    users.app.add_typer(grants.app, name="grants")
    notes.app.add_typer(notes.global_app, name="global")
    daemon.app.add_typer(hosts.app, name="hosts")
    for group in (
        memories,
        sessions,
        projects,
        tasks,
        notes,
        learnings,
        index,
        lifecycle,
        undo,
        quarantine,
        purge,
        review,
        contacts,
        history,
        state,
        accounts,
        settings,
        users,
        keys,
        credentials,
        encryption,
        policy,
        extensions,
        daemon,
        bench,
    ):
        app.add_typer(group.app, name=group.__name__.rpartition(".")[2])
    models.add_to(app)
    serve.add_to(app)
    console.add_to(app)
    connect.add_to(app)
    app.add_typer(mcp.app, name="mcp")
    for one in (imports, events, upgrade, hook):
        one.add_to(app)
    for one in (backup, restore, export, move, doctor, repair):
        one.add_to(app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare(sys.stdout)
    _prepare(sys.stderr)

    def work() -> int:
        check_arguments(given)
        code: object = program()(args=as_typed(given), prog_name=PROGRAM, standalone_mode=False)
        return code if isinstance(code, int) else 0

    return run_guarded(work, given)


def _root(
    ctx: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="Answer as JSON.")] = False,
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose vault.")] = None,
    home: Annotated[str | None, typer.Option("--home", metavar="PATH", help="The state directory.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Write debug messages to the log.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Memory for AI agents: record, remember, recall, and forget for certain.

    Every command takes --json, --user and --home, before or after its name.
    """
    note_flags(ctx, json=json, user=user, home=home, verbose=verbose)
    if version:
        print(status.installed_version())
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def _prepare(stream: object) -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
