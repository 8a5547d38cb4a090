"""`recollectum restore`: restores vaults from a backup."""

from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import KeyProblem
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, working
from recollectum.doors.cli.terminal.prompts import ask_secret, is_interactive
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, open_home, open_or_create_home, settings_of
from recollectum.upkeep.presence import is_made

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.upkeep.backup.restore import BackupAccess, RestoreResult


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "restore")(restore)


def restore(
    run: Run,
    path: Annotated[str, typer.Argument(metavar="BACKUP", help="The backup: a folder or a .tar file.")],
    *,
    into: Annotated[
        str | None, typer.Option("--into", metavar="HOME", help="Another home, created if it is missing.")
    ] = None,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", metavar="NAME", help="Only this vault; may be repeated.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace vaults that exist, after a backup of them.")
    ] = False,
    recovery_code: Annotated[
        bool, typer.Option("--recovery-code", help="Ask for the recovery code, and open the backup with it.")
    ] = False,
    unauthenticated: Annotated[
        bool, typer.Option("--unauthenticated", help="Accept a plain backup, which has no MAC.")
    ] = False,
    encrypt: Annotated[
        bool | None, typer.Option("--encrypt/--decrypt", help="Encrypt or decrypt the new home while restoring.")
    ] = None,
) -> None:
    """Restore a home or some of its vaults; each is restored completely or stays as it is."""
    # Imported here: no other command needs it.
    from recollectum.domain.ids import system_clock  # noqa: PLC0415
    from recollectum.upkeep.backup.restore import BackupAccess  # noqa: PLC0415
    from recollectum.upkeep.backup.staging import check_is_backup  # noqa: PLC0415

    backup = Path(path).expanduser().absolute()
    check_is_backup(backup)
    run = changed(run, home=into if into is not None else run.home)
    named = [parse_owner(name) for name in owner or ()] or ([parse_owner(run.user)] if run.user else None)
    opening = BackupAccess(
        settings=settings_of(run).settings,
        environ=run.environ,
        clock=system_clock,
        recovery_code=ask_secret("Recovery code") if recovery_code else None,
        unauthenticated=unauthenticated,
    )
    try:
        done = _restore(run, backup, opening, named, replace=replace, encrypt=encrypt)
    except KeyProblem:
        if recovery_code or not is_interactive():
            raise
        given = changed(opening, passphrase=ask_secret("Passphrase of the backup"))
        done = _restore(run, backup, given, named, replace=replace, encrypt=encrypt)
    _tell(run, done)


def _tell(run: Run, done: "RestoreResult") -> None:
    lines = [f"{plural(len(done.owners), 'vault')} restored into {home_of(run).root}"]
    document = {
        "restored": done.owners,
        "kept": done.kept,
        "authenticated": done.authenticated,
        "encrypted": done.encrypted,
    }
    answer(run, document, map(visible, [*lines, *map(format_owner, done.owners)]))
    if not done.authenticated:
        note("The backup is not authenticated: nobody can tell whether it was changed since it was made.")
    if not done.encrypted:
        note("It is not encrypted; to encrypt the whole home, restore it with --encrypt --into HOME")
    for gone in done.erased:
        note(visible(f"{format_owner(gone)} was erased here after the backup, and is not restored"))
    for kept in done.kept:
        note(f"the previous files are kept at {kept}")


def _restore(
    run: Run,
    backup: Path,
    opening: "BackupAccess",
    owners: "list[Owner] | None",
    *,
    replace: bool,
    encrypt: bool | None,
) -> "RestoreResult":
    with working(run, "restoring"):
        return _restore_into_home(run, backup, opening, owners, replace=replace, encrypt=encrypt)


def _restore_into_home(
    run: Run,
    backup: Path,
    opening: "BackupAccess",
    owners: "list[Owner] | None",
    *,
    replace: bool,
    encrypt: bool | None,
) -> "RestoreResult":
    from recollectum.upkeep.backup.restore import restore_home, restore_vaults  # noqa: PLC0415 - see above

    home = home_of(run)
    if not is_made(home) and owners is None:
        return restore_home(home, backup, opening, replace=replace, encrypted=encrypt)
    if encrypt is not None:
        raise Misuse("--encrypt and --decrypt are for a whole new home; vaults take the protection of the home")
    if not is_made(home):
        with open_or_create_home(changed(run, user=None)) as recollectum:
            return restore_vaults(recollectum.admin, backup, opening, owners=owners, replace=replace)
    with open_home(changed(run, user=None)) as recollectum:
        return restore_vaults(recollectum.admin, backup, opening, owners=owners, replace=replace)
