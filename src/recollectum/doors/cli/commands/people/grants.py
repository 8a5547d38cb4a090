"""`recollectum users grants`: lets one person read or write another owner's vault."""

from typing import Annotated

import typer

from recollectum.domain.access.caller import Permission, Scope
from recollectum.domain.access.owner import OwnerKind
from recollectum.domain.ids import parse_enum, parse_optional_enum
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, new_group, parse_owner
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.target import open_home

app = new_group("Allow one person to read or write what belongs to another.")


@command(app, "add")
def add(
    run: Run,
    *,
    to: Annotated[str, typer.Option(metavar="NAME", help="Who may.")],
    owner: Annotated[str, typer.Option(metavar="OWNER", help="Whose vault; a name, an owner, or global.")],
    permission: Annotated[str, typer.Option(help="read or write.")],
    scope: Annotated[str | None, typer.Option(help="user, session or global; derived from the other options.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")] = None,
) -> None:
    """Allow a person to read or write another owner's vault, or one session of it."""
    whose = parse_owner(owner)
    usual = Scope.SESSION if session else Scope.GLOBAL if whose.kind is OwnerKind.GLOBAL else Scope.USER
    with open_home(run) as recollectum:
        grant = recollectum.keys.add_grant(
            str(parse_owner(to)),
            str(whose),
            parse_enum(Permission, permission, "permission"),
            scope=parse_optional_enum(Scope, scope, "scope") or usual,
            session_id=session,
        )
    words = f"{format_owner(grant.to)} may {grant.permission} what is {format_owner(grant.owner)}'s"
    answer(run, {"grant": grant}, [grant.id])
    note(words if session is None else f"{words}, in one session")


@command(app, "list")
def list_grants(run: Run) -> None:
    """List all grants, oldest first."""
    with open_home(run) as recollectum:
        found = recollectum.keys.list_grants()
    rows = [
        (grant.id, format_owner(grant.to), grant.permission, format_owner(grant.owner), grant.scope, grant.session_id)
        for grant in found
    ]
    answer_rows(run, {"grants": found}, ("id", "who", "may", "whose", "scope", "session"), rows)
    if not found:
        note("no grants")


@command(app, "withdraw")
def withdraw(run: Run, grant_id: Annotated[str, typer.Argument(metavar="ID", help="The grant's id.")]) -> None:
    """End a grant at once."""
    with open_home(run) as recollectum:
        recollectum.keys.revoke_grant(grant_id)
    answer(run, {"withdrawn": grant_id}, [f"{grant_id} is withdrawn"])
