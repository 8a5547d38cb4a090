"""`recollectum keys`: creates, rotates, lists and revokes API keys."""

from datetime import timedelta
from typing import Annotated

import typer

from recollectum.domain.access.caller import ApiKey, Permission
from recollectum.domain.ids import parse_enum
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, new_group, parse_owner
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.target import check_user, open_home
from recollectum.doors.cli.terminal.times import parse_duration

app = new_group("Make, list, rotate and revoke API keys.")


@command(app, "create")
def create(
    run: Run,
    *,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="WORD", help="read, write or admin; may be repeated.")
    ] = None,
    owner: Annotated[
        list[str] | None,
        typer.Option("--owner", metavar="OWNER", help="Another owner whose vault it opens; may be repeated."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="A key that cannot change anything.")] = False,
) -> None:
    """Create a key for the user, and print its secret once."""
    if read_only and scope:
        raise Misuse("give --read-only or --scope, not both")
    usual = (Permission.READ,) if read_only else (Permission.READ, Permission.WRITE)
    allowed = [parse_enum(Permission, word, "permission") for word in scope or usual]
    with open_home(run) as recollectum:
        person = check_user(recollectum, run)
        others = [str(parse_owner(name)) for name in owner or ()]
        key, secret = recollectum.keys.add(str(person), permissions=allowed, owners=others)
    _tell_secret(run, key, secret)


@command(app, "rotate")
def rotate(
    run: Run,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")],
    *,
    grace: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Keep the old key valid for 10m, 2h, 1d …")
    ] = None,
) -> None:
    """Replace a key by a new one, print its secret once, and end the old key."""
    with open_home(run) as recollectum:
        rest = parse_duration(grace) if grace is not None else timedelta(0)
        key, secret = recollectum.keys.rotate(key_id, grace=rest)
    _tell_secret(run, key, secret)
    note(f"{key_id} ends {f'in {grace}' if grace else 'now'}")


def _tell_secret(run: Run, key: ApiKey, secret: str) -> None:
    answer(run, {"key": key, "secret": secret}, [secret])
    note(f"{key.id} is {format_owner(key.person)}'s key; set RECOLLECTUM_API_KEY to the secret: it is not shown again")


@command(app, "list")
def list_keys(run: Run) -> None:
    """List all keys by id; secrets are not stored."""
    with open_home(run) as recollectum:
        found = recollectum.keys.list()
    rows = [
        (
            key.id,
            format_owner(key.person),
            ", ".join(sorted(key.permissions)),
            ", ".join(format_owner(owner) for owner in key.owners) or None,
            key.created_at,
            key.revoked_at,
        )
        for key in found
    ]
    answer_rows(run, {"keys": found}, ("id", "user", "may", "also in", "made", "ends"), rows)
    if not found:
        note("no keys")


@command(app, "revoke")
def revoke(run: Run, key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """Revoke a key at once."""
    with open_home(run) as recollectum:
        recollectum.keys.revoke(key_id)
    answer(run, {"revoked": key_id}, [f"{key_id} is revoked"])
