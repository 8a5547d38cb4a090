"""`recollectum move`: moves vaults, or all of them and the catalog, between files and PostgreSQL databases."""

from dataclasses import replace as changed
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import KeyProblem
from recollectum.domain.ids import system_clock
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, step_progress
from recollectum.doors.cli.terminal.prompts import ask_secret, is_interactive
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, settings_of
from recollectum.home.keys.holders import PASSPHRASE_VARIABLE
from recollectum.home.move_mark import read_mark
from recollectum.settings.check import resolve_references
from recollectum.settings.values import is_database_url
from recollectum.upkeep.presence import check_made

if TYPE_CHECKING:
    from recollectum.upkeep.move import Move, MoveResult

_FILES = "files"


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "move")(move)


def move(
    run: Run,
    *,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="WHERE", help="The address of a database, or `files`. ${NAME} is a variable."),
    ] = None,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", metavar="NAME", help="Only this vault; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, and copy nothing.")] = False,
) -> None:
    """Move vaults between files and PostgreSQL databases while programs use them.

    Without --owner or --user all vaults are moved, and the catalog. Programs that are running continue in the new
    place. An interrupted move is continued by the same command.
    """
    home = home_of(run)
    check_made(home)
    named = tuple(parse_owner(name) for name in owner or ()) or ((parse_owner(run.user),) if run.user else None)
    wanted = changed(_wanted(run, to), owners=named)
    try:
        done = _moved(run, wanted, dry_run=dry_run)
    except KeyProblem:
        if not is_interactive():
            raise
        done = _moved(run, changed(wanted, passphrase=ask_secret("Passphrase")), dry_run=dry_run)
    _tell(run, wanted, done, dry_run=dry_run)


def _wanted(run: Run, to: str | None) -> "Move":
    # Imported here: no other command needs it.
    from recollectum.upkeep.move import Move  # noqa: PLC0415

    if to is None:
        unfinished = read_mark(home_of(run))
        if unfinished is None:
            raise Misuse("say where to move the vaults: --to files, or --to postgresql://…")
        to = unfinished or _FILES
    setting = "" if to == _FILES else to
    resolved = resolve_references(setting, run.environ)
    if resolved.problems:
        raise Misuse(f"--to {resolved.problems[0]}")
    if not is_database_url(resolved.text):
        # The value is not repeated: it may hold a password.
        raise Misuse("--to is neither `files` nor an address that begins with postgresql://")
    return Move(
        home=home_of(run),
        settings=settings_of(run).settings,
        url_setting=setting,
        url=resolved.text,
        environ=run.environ,
        clock=system_clock,
        passphrase=run.environ.get(PASSPHRASE_VARIABLE),
    )


def _moved(run: Run, wanted: "Move", *, dry_run: bool) -> "MoveResult":
    from recollectum.upkeep.move import move_home  # noqa: PLC0415 - see above

    with step_progress(run, "moving", None) as advance:
        return move_home(wanted, dry_run=dry_run, progress=advance)


def _tell(run: Run, wanted: "Move", done: "MoveResult", *, dry_run: bool) -> None:
    where = "the database" if wanted.url else "files"
    count = plural(done.vaults, "vault")
    document = {
        "to": where,
        "dry_run": dry_run,
        "vaults": done.vaults,
        "copied": done.copied,
        "catalog": done.catalog,
        "kept": done.kept,
    }
    if dry_run:
        answer(run, document, [f"would move {count} to {where}, {done.copied} of them still to be copied"])
        return
    catalog = ", and the catalog" if done.catalog else ""
    answer(run, document, [f"{count} moved to {where}, {done.copied} copied now{catalog}"])
    if done.kept:
        note(
            visible(f"the previous files are kept in {done.kept[0].parent}; delete aside-* when you need them no more")
        )
    if not done.catalog:
        return
    found = settings_of(run)
    if found.settings.storage.url != wanted.url:
        origin = found.origins["storage.url"]
        note(visible(f"storage.url is set by {origin} as well; change it there before you start a program again"))
