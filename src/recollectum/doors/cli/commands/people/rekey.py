"""`recollectum encryption rekey`: gives vaults new keys, or the home a new master key."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, step_progress
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import open_home, user_of

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.upkeep.home_admin import HomeAdmin
    from recollectum.upkeep.rekey.master_key import MasterRekey
    from recollectum.upkeep.rekey.vault_keys import VaultRekey


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "rekey")(rekey)


def rekey(
    run: Run,
    *,
    owner: Annotated[
        list[str] | None, typer.Option("--owner", metavar="NAME", help="Only this vault; may be given again.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every vault, which is what happens without --owner.")] = False,
    master: Annotated[
        bool, typer.Option("--master", help="The master key, which wraps the others; with --all those as well.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be changed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Give vaults new random keys, or the home a new master key, and destroy the old ones.

    Close other programs that use the vaults first. Backups in the home can still be restored.
    """
    if all_ and (owner or run.user):
        raise Misuse("--all and --owner contradict each other; give one of them")
    with open_home(run) as recollectum:
        named = [parse_owner(name) for name in owner or ()] or ([user_of(recollectum, run)] if run.user else None)
        vaults, home = _preview(recollectum.admin, named, vaults=bool(all_ or named or not master), master=master)
        lines = [*_vault_lines(vaults), *_master_lines(home)]
        if dry_run:
            answer(run, {"dry_run": True, "vaults": vaults, "master": home}, map(visible, lines))
            return
        for line in lines:
            note(line)
        if not confirm("the keys are replaced, and the old ones destroyed", yes=yes):
            note("nothing was done")
            return
        vaults, home = _change(run, recollectum.admin, named, vaults, home)
    answer(run, {"dry_run": False, "vaults": vaults, "master": home}, map(visible, _told(vaults, home)))


def _preview(
    admin: "HomeAdmin", owners: "list[Owner] | None", *, vaults: bool, master: bool
) -> "tuple[VaultRekey | None, MasterRekey | None]":
    # Imported here: no other command needs it.
    from recollectum.upkeep.rekey.master_key import preview_master  # noqa: PLC0415
    from recollectum.upkeep.rekey.vault_keys import preview_vaults  # noqa: PLC0415

    return (preview_vaults(admin, owners) if vaults else None), (preview_master(admin) if master else None)


def _change(
    run: Run,
    admin: "HomeAdmin",
    owners: "list[Owner] | None",
    vaults: "VaultRekey | None",
    home: "MasterRekey | None",
) -> "tuple[VaultRekey | None, MasterRekey | None]":
    from recollectum.upkeep.rekey.master_key import rekey_master  # noqa: PLC0415 - see above
    from recollectum.upkeep.rekey.vault_keys import rekey_vaults  # noqa: PLC0415

    if vaults:
        with step_progress(run, "rewriting", vaults.steps) as advance:
            vaults = rekey_vaults(admin, owners, progress=advance)
    return vaults, (rekey_master(admin) if home else None)


def _vault_lines(plan: "VaultRekey | None") -> Iterator[str]:
    if plan is None:
        return
    names = ", ".join(map(format_owner, plan.owners))
    yield f"{plural(len(plan.owners), 'vault')} ({names}): {plan.bytes / 2**20:.1f} MiB are rewritten under new keys"
    if plan.plain:
        yield f"not encrypted, and left as they are: {', '.join(map(format_owner, plan.plain))}"
    if plan.copies:
        yield f"with them {plural(len(plan.copies), 'copy')} from migrations, repairs and restores"
    for path in plan.backups:
        yield f"backup {path}: has the old keys in it, and can be restored as before"


def _master_lines(plan: "MasterRekey | None") -> Iterator[str]:
    if plan is None:
        return
    yield f"the master key, {plan.holder.words}, is replaced by a new one in the same place"
    if plan.renews_code:
        yield "the recovery code stops working; a new one is made and shown"
    for path in plan.backups:
        yield f"backup {path}: the keys in it are wrapped by the new master key"
    yield from (f"backup elsewhere, not changed: afterwards {words}" for words in plan.elsewhere)


def _told(vaults: "VaultRekey | None", home: "MasterRekey | None") -> Iterator[str]:
    if vaults:
        yield f"{plural(len(vaults.owners), 'vault')} rewritten under new keys; the old keys are destroyed"
    if home is None:
        return
    yield "The home has a new master key; the old one is destroyed."
    yield from (f"{path} was not changed: it is damaged, changed, or another home's" for path in home.left)
    if home.recovery_code:
        yield from ("Recovery code:", "", f"    {home.recovery_code}", "")
        yield "Write it on paper and keep it away from this machine. The earlier code is void."
    elif not home.renews_code:
        yield "There is no recovery code; make one with: recollectum encryption new-code"
