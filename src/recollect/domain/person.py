"""Person and tenant: who has a vault here, and whose rules apply to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.identity import Identity
from recollect.domain.owner import Owner

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person (or agent, or group) with the channel addresses that belong to it."""

    owner: Owner
    tenant: str
    created_at: datetime
    identities: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A set of people under one retention policy."""

    name: str
    created_at: datetime
    #: Days for `active`, `archive` and `grace`; what is absent follows the settings.
    retention_days: Mapping[str, int]
