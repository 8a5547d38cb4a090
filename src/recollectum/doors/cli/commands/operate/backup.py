"""`recollectum backup`: copies the home or some vaults, and proves the copy by a trial restore."""

from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, step_progress
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import describe_key_holder, open_home, user_of
from recollectum.home.keys.holders import HolderKind


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "backup")(backup)


def backup(
    run: Run,
    *,
    to: Annotated[
        str | None, typer.Option("--to", metavar="PATH", help="A folder to put it in, or a .tar file to make.")
    ] = None,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", metavar="NAME", help="Only this vault; may be repeated.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="The whole home, which is the default.")] = False,
) -> None:
    """Copy the home while it is in use, encrypted as it is, and test the copy by restoring it.

    The key itself is in no backup: keep the recovery code, the passphrase or the key file as well.
    """
    # Imported here: no other command needs it.
    from recollectum.upkeep.backup.backup import back_up, size_of  # noqa: PLC0415

    if all_ and (owner or run.user):
        raise Misuse("--all and --owner contradict each other; give one of them")
    if to is not None and not to.isprintable():
        raise Misuse("--to holds a character that cannot be printed; name another folder or file")
    with open_home(run) as recollectum:
        admin = recollectum.admin
        named = [parse_owner(name) for name in owner or ()] or ([user_of(recollectum, run)] if run.user else None)
        with step_progress(run, "backing up", size_of(admin, named)) as advance:
            made = back_up(admin, to=Path(to).expanduser().absolute() if to else None, owners=named, progress=advance)
        holder = admin.keys.holder()
    document = {"backup": made.path, "bytes": made.bytes, "verified": True, "manifest": made.manifest, "key": holder}
    count = plural(len(made.manifest.vaults), "vault")
    answer(run, document, [visible(str(made.path)), f"{count}, {made.bytes / 2**20:.1f} MiB, test restore passed"])
    if not run.json:
        note(describe_key_holder(holder))
        if holder.kind is not HolderKind.OFF and holder.recovery_code_made_at is None:
            note("Elsewhere the backup opens only with that key; make a recovery code: recollectum encryption new-code")
