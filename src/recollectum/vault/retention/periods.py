"""Decides how long memories of a tenant stay in each state: presets, settings, and the tenant's own days."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from recollectum.domain.access.person import DEFAULT_TENANT, RetentionPreset
from recollectum.policy.lifecycle import Retention
from recollectum.settings.model import LifecycleSettings
from recollectum.settings.spec import PRESET
from recollectum.settings.values import split_agents

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


def _chosen(days: int, usual: int) -> int:
    return usual if days == PRESET else days


def _periods(active: int, archive: int, grace: int) -> Retention:
    return Retention(
        active=timedelta(days=active) if active else None,
        archived=timedelta(days=archive) if archive else None,
        grace=timedelta(days=grace),
    )
