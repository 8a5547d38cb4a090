"""Examines a whole home and lists every finding with its cure."""

from collections.abc import Callable, Sequence

from recollectum.domain.access.owner import Owner
from recollectum.policy.clock import ClockReading
from recollectum.settings.model import Settings
from recollectum.upkeep.doctor import extension_checks, home_checks, model_checks, place_checks, vault_checks
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, fine
from recollectum.upkeep.home_admin import HomeAdmin


def examine(
    admin: HomeAdmin,
    clock_of: Callable[[Owner], ClockReading],
    settings: Settings,
    *,
    owners: Sequence[Owner] | None = None,
    deep: bool = False,
    fix: bool = False,
) -> list[HealthFinding]:
    """Check an open home and all vaults, or some.

    With `deep` every page and row is read; with `fix`, useless leftovers are removed.
    """
    home, clock = admin.home, admin.clock
    found = [
        *vault_checks.key(admin),
        *place_checks.place(home),
        *home_checks.room(home, settings),
        *home_checks.servers(admin),
        *home_checks.logs(admin.engine.upkeep),
        *home_checks.damaged_logs(home),
        *home_checks.locks(home, clock),
        *home_checks.unfinished(home, clock, fix=fix),
        *home_checks.backups(home, clock),
        *home_checks.erasures(admin.catalog),
        *model_checks.embedding_model(settings.embedding),
        *extension_checks.extensions(home),
        *home_checks.other_hosts(admin),
        *vault_checks.catalog_age(admin, fix=fix),
        *vault_checks.orphans(admin, fix=fix),
        *(vault_checks.base(admin) if deep and owners is None else ()),
    ]
    for entry in admin.entries(owners):
        inside = [*vault_checks.age(admin, entry, fix=fix), *vault_checks.vault(admin, entry, deep=deep)]
        found += inside
        if all(one.severity is Severity.FINE for one in inside):
            found += _clock(entry.owner, clock_of(entry.owner))
    return [*found, telemetry(settings)]


def cannot_open(sentence: str) -> HealthFinding:
    """Return the finding for a home that does not open; its sentence says the cure."""
    return HealthFinding(topic="home", severity=Severity.PROBLEM, words=sentence)


def telemetry(settings: Settings | None = None) -> HealthFinding:
    """Return the finding about what is sent elsewhere without being asked for."""
    if settings and settings.telemetry.spans == "on":
        words = (
            "actions and their times are handed to OpenTelemetry, because telemetry.spans is on; no content, no names"
        )
        return fine("telemetry", words)
    return fine("telemetry", "none: data is sent only to the models in your settings")


def _clock(owner: Owner, reading: ClockReading) -> list[HealthFinding]:
    if not reading.held:
        return []
    words = (
        f"the clock jumped ahead of the last time seen by the vault of {owner}, so nothing in it is moved or destroyed"
    )
    cure = "correct the clock, or confirm it with: recollectum lifecycle run --accept-clock"
    return [HealthFinding(topic="clock", severity=Severity.WARNING, words=words, cure=cure)]
