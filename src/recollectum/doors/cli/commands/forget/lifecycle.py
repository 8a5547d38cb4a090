"""`recollectum lifecycle`: previews and runs the steps that time has made due, and reports what sweeps did."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollectum.domain.errors import NotFound
from recollectum.domain.memory import State
from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, moment, note, plural, working
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.target import check_user, open_home, open_user_vault, user_of
from recollectum.doors.cli.terminal.times import parse_time

if TYPE_CHECKING:
    from recollectum.domain.access.person import RetentionPresetName, Tenant
    from recollectum.engine import Recollectum
    from recollectum.policy.clock import ClockReading
    from recollectum.policy.lifecycle import Retention
    from recollectum.vault.retention.trash import Sweep
    from recollectum.vault.vault import Vault

_NOTHING_AGED = "no memory that age archived or deleted can be restored"
app = new_group("Preview and run the lifecycle steps that are due, and list what the sweeps did.")

_WAITS = "needs_confirmation"
_REASONS = {
    "expires_at": "its time to live is over",
    "archive_at": "its active time is over",
    "retention_expires_at": "its retention is over",
    "hard_delete_at": "its grace window is over",
}


@command(app, "preview")
def preview(
    run: Run,
    *,
    at: Annotated[str | None, typer.Option(metavar="DATE", help="Up to 2026-11-15, or +30d from now.")] = None,
) -> None:
    """Show what would move, to which state, when, and why. Nothing is changed."""
    until = parse_time(at) if at is not None else None
    with open_user_vault(run) as vault:
        moves = vault.admin.lifecycle.preview(until)
        reading = vault.admin.clock()
    rows = [(move.memory_id, move.at, move.before, move.after, _REASONS[move.because]) for move in moves]
    answer_rows(run, {"moves": moves, "clock": _clock(reading)}, ("memory", "when", "from", "to", "because"), rows)
    if reading.held:
        note(explain_held_clock(reading))
    if not moves:
        note("nothing is due" if until is None else f"nothing is due until {moment(until)}")


@command(app, "run")
def run_lifecycle(
    run: Run,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Destroy what is due without asking.")] = False,
    accept_clock: Annotated[bool, typer.Option("--accept-clock", help="Confirm that the clock is right.")] = False,
) -> None:
    """Take every step that is due; before anything is destroyed you are asked."""
    with open_user_vault(run) as vault:
        if accept_clock:
            before = vault.admin.lifecycle.accept_clock()
            note(f"the clock is accepted; the time in use until now was {moment(before)}")
        if not _agreed(vault, yes=yes):
            note("nothing was moved")
            raise typer.Exit(FAILED)
        # As the hourly sweep does it, so that this one has a report too.
        with working(run, "taking the steps that are due"):
            done = vault.privacy.trash.sweep(agreed=True)
        reading = vault.admin.clock()
    held = reading.policy_now if reading.held else None
    counts = {name: getattr(done, name) for name in ("archived", "deleted", "marked", "purged", "erased")}
    report = {"at": done.at, **counts, "held_since": held, "number": done.number}
    answer(run, {"report": report}, _told(done))
    if not done.erased:
        note("another program is reading the vault, so its log still contains what was destroyed; run this again later")
    if held is not None:
        note(explain_held_clock(reading))
        raise typer.Exit(FAILED)


@command(app, "retention")
def retention(
    run: Run,
    preset: Annotated[
        str | None, typer.Argument(metavar="[keep|expire]", help="keep: nothing expires by age. expire: 90/60/7 days.")
    ] = None,
    *,
    tenant: Annotated[str | None, typer.Option(metavar="NAME", help="The tenant; default: the user's.")] = None,
) -> None:
    """Show how long memories are kept, or choose a preset for everybody of a tenant.

    A chosen period begins now, also for memories that are older.
    """
    with open_home(run) as recollectum:
        if tenant is not None and preset is None:
            raise Misuse("name a preset with --tenant: keep or expire; `users tenants list` shows what each tenant has")
        if preset is not None:
            chosen = _choose(recollectum, tenant or recollectum.people.get(user_of(recollectum, run)).tenant, preset)
            days = ", ".join(f"{period} {count}" for period, count in chosen.retention_days.items())
            answer(run, {"retention": chosen}, [f"tenant {chosen.name}: {preset} ({days} days; 0 is for ever)"])
            return
        rules = recollectum.vault(check_user(recollectum, run)).admin.lifecycle.retention()
    agents = {name: _to_days(of) for name, of in rules.agents}
    answer(run, {"retention": {**_to_days(rules), "agents": agents}}, describe_retention(rules))


@command(app, "restore")
def restore(
    run: Run, *, dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be restored.")] = False
) -> None:
    """Restore every memory that age alone archived or deleted; one `undo last` takes it back."""
    with open_user_vault(run) as vault:
        if dry_run:
            found = vault.privacy.trash.list_aged()
            rows = [(one.id, one.state, one.content) for one in found]
            answer_rows(run, {"memories": found}, ("memory", "state", "content"), rows)
            if not found:
                note(_NOTHING_AGED)
            return
        done = vault.privacy.trash.restore_aged()
    told = [f"{one.id} is active again" for one in done.memories]
    answer(run, {"memories": done.memories, "left": done.left}, told)
    for one in done.left:
        note(f"not restored: {one.why}")
    if not told:
        note(_NOTHING_AGED)


def _choose(recollectum: "Recollectum", tenant: str, preset: str) -> "Tenant":
    known = [one.name for one in recollectum.people.list_tenants()]
    if tenant not in known:
        raise NotFound(f"there is no tenant {tenant!r}; make it with: recollectum users tenants set {tenant}")
    return recollectum.people.save_tenant(tenant, cast("RetentionPresetName", preset))


def _to_days(rules: "Retention") -> dict[str, int | None]:
    periods = {"active_days": rules.active, "archive_days": rules.archived, "grace_days": rules.grace}
    return {name: None if period is None else period.days for name, period in periods.items()}


def describe_retention(rules: "Retention") -> list[str]:
    """Return how long memories are kept, in sentences."""
    return [_of_rules("memories", rules), *(_of_rules(f"those of agent {name}", of) for name, of in rules.agents)]


def _of_rules(what: str, rules: "Retention") -> str:
    grace = f"; what is deleted can be restored for {plural(rules.grace.days, 'day')}"
    if rules.active is None:
        return f"{what} stay until they are forgotten{grace}"
    if rules.archived is None:
        return f"{what} are deleted after {plural(rules.active.days, 'day')}{grace}"
    times = f"archived after {plural(rules.active.days, 'day')} without use"
    return f"{what} are {times} and deleted {plural(rules.archived.days, 'day')} later{grace}"


@command(app, "reports")
def reports(
    run: Run,
    *,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Only those before this one.")] = None,
) -> None:
    """List what the last sweeps did, in counts; newest first."""
    with open_user_vault(run) as vault:
        found = vault.privacy.trash.list_sweeps(cursor=None if before is None else str(before), limit=limit)
    rows = [
        (one.number, one.at, one.state, one.archived, one.deleted, one.marked, one.purged, one.waiting) for one in found
    ]
    headings = ("number", "when", "state", "archived", "deleted", "marked", "destroyed", "waiting")
    answer_rows(run, {"sweeps": found}, headings, rows)
    if not found:
        note("no sweep has run yet")
    elif found[0].state.value == _WAITS:
        note(f"{_asked(found[0])}; confirm with: recollectum lifecycle run --yes")


def _asked(swept: "Sweep") -> str:
    return f"{plural(swept.waiting, 'memory')} would be destroyed for good, for the first time in this vault"


def explain_held_clock(reading: "ClockReading") -> str:
    """Return an explanation of a doubtful clock, with its cure."""
    return (
        f"The clock says {moment(reading.now)}, but this vault was last used on {moment(reading.policy_now)}. "
        "A jump that long usually means a wrong clock, so nothing is moved or destroyed. "
        "If the clock is right, run: recollectum lifecycle run --accept-clock. If it is wrong, correct it."
    )


def _agreed(vault: "Vault", *, yes: bool) -> bool:
    """Return whether to go on; asks only when something would be destroyed."""
    lost = Counter(move.after for move in vault.admin.lifecycle.preview())[State.PURGED]
    if not lost or vault.admin.clock().held:
        return True
    return confirm(f"{plural(lost, 'memory')} would be destroyed for good", yes=yes)


def _clock(reading: "ClockReading") -> dict[str, object]:
    return {"now": reading.now, "believed": reading.policy_now, "held": reading.held}


def _told(report: "Sweep") -> list[str]:
    counts = (
        ("archived", report.archived),
        ("deleted", report.deleted),
        ("marked for destruction", report.marked),
        ("destroyed", report.purged),
    )
    return [f"{plural(count, 'memory')} {what}" for what, count in counts if count] or ["nothing moved"]
