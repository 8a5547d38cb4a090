"""`recollectum accounts`: keeps which accounts a person has at services, and which one of each is in use."""

from typing import Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault

app = new_group("Keep your accounts at services, one of each in use; their secrets are in `credentials`.")

Service = Annotated[str, typer.Argument(metavar="SERVICE", help="The service, such as google.")]
Name = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account, such as ada@example.com.")]


@command(app, "list")
def list_accounts(
    run: Run, service: Annotated[str | None, typer.Argument(metavar="SERVICE", help="Only of this service.")] = None
) -> None:
    """List the accounts, and which one of each service is in use."""
    with open_user_vault(run) as vault:
        found = vault.state.accounts.list(service)
    rows = [(one.service, one.account, "in use" if one.active else "", one.used_at) for one in found]
    answer_rows(run, {"accounts": found}, ("service", "account", "state", "last used"), rows)
    if not found:
        note("no accounts; add one with: recollectum accounts add SERVICE ACCOUNT")


@command(app, "add")
def add(run: Run, service: Service, account: Name) -> None:
    """Add an account; the first one of a service is in use at once."""
    with open_user_vault(run, create=True) as vault:
        added = vault.state.accounts.add(service, account)
    state = "is in use" if added.active else "is known"
    answer(run, {"account": added}, [one_line(f"{added.account} {state} at {added.service}")])


@command(app, "use")
def use(run: Run, service: Service, account: Name) -> None:
    """Use another account of a service; the one that was in use stays on the list."""
    with open_user_vault(run) as vault:
        used = vault.state.accounts.activate(service, account)
    answer(run, {"account": used}, [one_line(f"{used.account} is in use at {used.service}")])


@command(app, "remove")
def remove(run: Run, service: Service, account: Name) -> None:
    """Remove an account from the list; its secret stays in `credentials` until it is deleted there."""
    with open_user_vault(run) as vault:
        vault.state.accounts.remove(service, account)
    answer(run, {"removed": account}, [one_line(f"{account} is removed from {service}")])
