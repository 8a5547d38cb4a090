"""Decides how long memories stay in each state, and sets a vault's stored deadlines when that has changed."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import DEFAULT_TENANT, RetentionPreset
from recollectum.domain.errors import StorageError
from recollectum.policy.lifecycle import Retention, active_times, later
from recollectum.settings.model import LifecycleSettings
from recollectum.settings.spec import PRESET
from recollectum.settings.values import split_agents
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import people
from recollectum.storage.tables.content import deadlines
from recollectum.storage.tables.content.deadlines import Deadlines, RuledMemories
from recollectum.storage.tables.trail import meta
from recollectum.vault.clock import VaultClock

#: The days of each preset; 0 is for ever.
PRESETS: Mapping[RetentionPreset, Mapping[str, int]] = {
    RetentionPreset.KEEP: {"active": 0, "archive": 0},
    RetentionPreset.EXPIRE: {"active": 90, "archive": 60},
}


def preset_of(tenant: str) -> RetentionPreset:
    """Return the preset that a tenant has until somebody chooses: the default tenant keeps, others expire."""
    return RetentionPreset.KEEP if tenant == DEFAULT_TENANT else RetentionPreset.EXPIRE


def to_retention(settings: LifecycleSettings, override: Mapping[str, int], tenant: str = DEFAULT_TENANT) -> Retention:
    """Return days as durations. A tenant's days have precedence over the settings, those over the preset."""
    active = override.get("active", _chosen(settings.active_days, PRESETS[preset_of(tenant)]["active"]))
    grace = override.get("grace", settings.grace_days)

    def archive_after(active: int) -> int:
        usual = PRESETS[RetentionPreset.EXPIRE if active else RetentionPreset.KEEP]["archive"]
        return override.get("archive", _chosen(settings.archive_days, usual))

    def of_agent(active: int, archive: int | None = None, own_grace: int | None = None) -> Retention:
        after = archive_after(active) if archive is None else archive
        return _periods(active, after, grace if own_grace is None else own_grace)

    agents = tuple((name, of_agent(*days)) for name, days in split_agents(settings.agents).items())
    return replace(_periods(active, archive_after(active), grace), agents=agents)


def retention_of(tx: Tx, owner: Owner, settings: LifecycleSettings) -> Retention:
    """Return the retention of an owner's vault, in a transaction of the catalog."""
    person = people.find(tx, owner.person)
    tenant = people.find_tenant(tx, person.tenant) if person else None
    rules = to_retention(settings, tenant.retention_days, tenant.name) if tenant else to_retention(settings, {})
    # In the vault of one agent everything belongs to that agent.
    return replace(rules.of(owner.agent), agents=rules.agents)


def _chosen(days: int, usual: int) -> int:
    return usual if days == PRESET else days


def _periods(active: int, archive: int, grace: int) -> Retention:
    return Retention(
        active=timedelta(days=active) if active else None,
        archived=timedelta(days=archive) if archive else None,
        grace=timedelta(days=grace),
    )


_META_KEY = "retention"
#: The active and archive days of every rule, by agent; the empty name is everybody else.
_Days = dict[str, list[int | None]]


def apply_retention(database: Database, clock: VaultClock, rules: Retention) -> None:
    """Set the deadlines of memories to a retention, if the vault's last one was different; they count from now.

    A disk that takes no writes leaves them as they are until the vault is opened again.
    """
    wanted = _days_of(rules)
    if database.read(_load) == wanted:
        return

    def change(tx: Tx) -> None:
        before = _load(tx)
        if before != wanted:
            _apply(tx, clock, rules, before)
            meta.save(tx, _META_KEY, json.dumps(wanted))

    with suppress(StorageError):
        database.write(change)


def retention_record(rules: Retention) -> dict[str, str]:
    """Return the row of meta that says which retention a vault follows; a new vault has no deadlines to set."""
    return {_META_KEY: json.dumps(_days_of(rules))}


def _apply(tx: Tx, clock: VaultClock, rules: Retention, before: _Days | None) -> None:
    now = clock.reading(tx).policy_now
    named = {*_days_of(rules), *(before or {})} - {""}
    for name in ("", *sorted(named)):
        periods = rules.of(name) if name else rules
        if _is_applied(periods, None if before is None else before.get(name, before[""])):
            continue
        chosen = RuledMemories(agent=name) if name else RuledMemories(others=tuple(sorted(named)))
        times = active_times(now, periods)
        fresh = Deadlines(archive_at=times["archive_at"], retention_expires_at=times["retention_expires_at"])
        deadlines.set_active(tx, chosen, fresh, now)
        deadlines.set_archived(tx, chosen, later(now, periods.archived) if periods.archived else None, now)


def _is_applied(periods: Retention, before: list[int | None] | None) -> bool:
    """Return whether the stored deadlines follow these periods."""
    # A vault from before retention was recorded has the deadlines of its settings, unless nothing expires any more.
    return periods.active is not None if before is None else before == _days(periods)


def _load(tx: Tx) -> _Days | None:
    text = meta.find(tx, _META_KEY)
    return None if text is None else json.loads(text)


def _days_of(rules: Retention) -> _Days:
    return {"": _days(rules), **{name: _days(periods) for name, periods in rules.agents}}


def _days(rules: Retention) -> list[int | None]:
    return [_whole_days(rules.active), _whole_days(rules.archived)]


def _whole_days(period: timedelta | None) -> int | None:
    return None if period is None else period.days
