"""`recollect keys`: API keys, by which others than the process owner come in."""

from typing import Annotated

import typer

from recollect.domain.caller import Permission
from recollect.doors.cli.flags import Run, command, new_group
from recollect.doors.cli.output import answer, answer_rows, note
from recollect.doors.cli.owners import spelled
from recollect.doors.cli.target import check_user, opened

app = new_group("Make, list and revoke API keys.")


@command(app, "create")
def create(
    run: Run,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="A key that cannot change anything.")] = False,
) -> None:
    """Make a key for the user, and print its secret this once."""
    allowed = (Permission.READ,) if read_only else (Permission.READ, Permission.WRITE)
    with opened(run) as recollect:
        owner = check_user(recollect, run)
        key, secret = recollect.keys.create(str(owner), permissions=allowed)
    answer(run, {"key": key, "secret": secret}, [secret])
    note(f"{key.id} is {spelled(owner)}'s key; give the secret to RECOLLECT_API_KEY, for it is not shown again")


@command(app, "list")
def list_keys(run: Run) -> None:
    """List all keys by id; secrets are not kept."""
    with opened(run) as recollect:
        found = recollect.keys.all()
    rows = [
        (key.id, spelled(key.person), ", ".join(sorted(key.permissions)), key.created_at, key.revoked_at)
        for key in found
    ]
    answer_rows(run, {"keys": found}, ("id", "user", "may", "made", "revoked"), rows)
    if not found:
        note("no keys")


@command(app, "revoke")
def revoke(run: Run, key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """End a key at once."""
    with opened(run) as recollect:
        recollect.keys.revoke(key_id)
    answer(run, {"revoked": key_id}, [f"{key_id} is revoked"])
