"""`recollectum users tenants`: lists and sets the retention policy of groups of people."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.access.person import Tenant
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.target import open_home

if TYPE_CHECKING:
    from recollectum.engine import Recollectum

app = new_group("List tenants and set how long their memories stay in each state.")


@command(app, "list")
def list_tenants(run: Run) -> None:
    """List all tenants with their own retention periods; a missing one follows the settings."""
    with open_home(run) as recollectum:
        found = recollectum.people.list_tenants()
    rows = [(tenant.name, tenant.created_at, _periods(tenant)) for tenant in found]
    answer_rows(run, {"tenants": found}, ("name", "made", "days"), rows)
    if not found:
        note("no tenants")


@command(app, "set")
def set_(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tenant.")],
    *,
    active_days: Annotated[int | None, typer.Option(help="Days until archived; 0 is never.")] = None,
    archive_days: Annotated[int | None, typer.Option(help="Days in the archive; 0 skips it.")] = None,
    grace_days: Annotated[int | None, typer.Option(help="Days to restore what was deleted.")] = None,
) -> None:
    """Create a tenant, or change its retention periods; those not named stay as they are."""
    given = {"active": active_days, "archive": archive_days, "grace": grace_days}
    with open_home(run) as recollectum:
        days = {**_known(recollectum, name), **{period: days for period, days in given.items() if days is not None}}
        tenant = recollectum.people.save_tenant(name, days)
    answer(run, {"tenant": tenant}, [f"{tenant.name}: {_periods(tenant)}"])


def _known(recollectum: "Recollectum", name: str) -> dict[str, int]:
    periods = {tenant.name: dict(tenant.retention_days) for tenant in recollectum.people.list_tenants()}
    return periods.get(name, {})


def _periods(tenant: Tenant) -> str:
    return ", ".join(f"{period} {days}" for period, days in tenant.retention_days.items()) or "as in the settings"
