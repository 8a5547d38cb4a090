"""`recollectum export`: writes everything of some vaults into a bundle that can be read without this program."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import HomeError
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, working
from recollectum.doors.cli.terminal.prompts import ask_new_passphrase
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import connection_of, open_home, open_vault, user_of

if TYPE_CHECKING:
    from recollectum.upkeep.bundle.export import ExportResult

_README = """# An export of a vault on a server of Recollectum

- `memories.jsonl` has every active or archived memory, one JSON object a line.
- `conversations/*.jsonl` are the transcripts of conversations; `recollectum sessions import` reads them.
"""


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
    if connection_of(run) is not None:
        if owner or all_:
            raise Misuse(
                "over a server you export the vault of your key, or one more with --user; leave --owner and --all out"
            )
        made = _from_server(run, path, ask_new_passphrase() if encrypt else None)
        _tell(run, made)
        return
    with open_home(run) as recollectum:
        named = [parse_owner(name) for name in owner or ()] or (None if all_ else [user_of(recollectum, run)])
        passphrase = ask_new_passphrase() if encrypt else None
        with working(run, "exporting"):
            made = export_bundle(recollectum.admin, path, owners=named, passphrase=passphrase)
    _tell(run, made)


def _tell(run: Run, made: "ExportResult") -> None:
    count = plural(len(made.owners), "vault")
    answer(run, {"bundle": made}, [visible(str(made.path)), f"{count}, {plural(made.files, 'file')}"])
    if not run.json and not made.encrypted:
        note("The bundle is not encrypted: anybody who can read it can read everything in it.")


def _from_server(run: Run, path: Path, passphrase: str | None) -> "ExportResult":
    """Write the memories and the conversations that the server sends; nothing is left there when that fails."""
    # Imported here: no other command needs them.
    from recollectum.domain.ids import is_id  # noqa: PLC0415
    from recollectum.domain.page import every  # noqa: PLC0415
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415
    from recollectum.upkeep.bundle.container import new_bundle  # noqa: PLC0415
    from recollectum.upkeep.bundle.export import ExportResult  # noqa: PLC0415

    with open_vault(run) as vault, working(run, "exporting"):
        if not isinstance(vault, ServedVault):
            raise TypeError("only the vault of a server is exported this way")
        sessions, owner = vault.sessions, vault.owner or vault.me().person
        with new_bundle(path, passphrase) as writer:
            files = [
                writer.add("README.md", [_README.encode()]),
                writer.add("memories.jsonl", sessions.export_memories()),
            ]
            for one in every(lambda cursor: sessions.list(cursor=cursor, limit=500)):
                if not is_id(one.id, "ses"):
                    # It becomes the name of a file.
                    raise HomeError("the server sent a conversation whose id is none; nothing was exported")
                files.append(writer.add(f"conversations/{one.id}.jsonl", sessions.export(one.id)))
    size = sum(one.bytes for one in files)
    return ExportResult(path=path, owners=(owner,), files=len(files), bytes=size, encrypted=passphrase is not None)
