"""`recollectum export`: writes everything of some vaults into a bundle that can be read without this program."""

from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, working
from recollectum.doors.cli.terminal.prompts import ask_new_passphrase
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import open_home, user_of


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "export")(export)


def export(
    run: Run,
    to: Annotated[str, typer.Argument(metavar="PATH", help="A new folder, or a new file that ends in .zip.")],
    *,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", metavar="NAME", help="Only this vault; may be repeated.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Everybody's vaults, and not only the user's.")] = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Ask for a passphrase, and encrypt the .zip file with it.")
    ] = False,
) -> None:
    """Write all memories, conversations and receipts into a bundle of JSON lines and Markdown.

    A bundle is not encrypted unless --encrypt is given. `recollectum import` reads it again.
    """
    # Imported here: no other command needs it.
    from recollectum.upkeep.bundle.export import export_bundle  # noqa: PLC0415

    if all_ and (owner or run.user):
        raise Misuse("--all and --owner contradict each other; give one of them")
    if not to.isprintable():
        raise Misuse("PATH holds a character that cannot be printed; name another folder or file")
    path = Path(to).expanduser().absolute()
    if path.suffix not in ("", ".zip"):
        raise Misuse(f"{visible(path.name)} ends in {visible(path.suffix)}; name a folder, or a file that ends in .zip")
    with open_home(run) as recollectum:
        named = [parse_owner(name) for name in owner or ()] or (None if all_ else [user_of(recollectum, run)])
        passphrase = ask_new_passphrase() if encrypt else None
        with working(run, "exporting"):
            made = export_bundle(recollectum.admin, path, owners=named, passphrase=passphrase)
    count = plural(len(made.owners), "vault")
    answer(run, {"bundle": made}, [visible(str(made.path)), f"{count}, {plural(made.files, 'file')}"])
    if not run.json and not made.encrypted:
        note("The bundle is not encrypted: anybody who can read it can read everything in it.")
