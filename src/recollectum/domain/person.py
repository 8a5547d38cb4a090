"""Person and tenant: who has a vault here, and whose rules apply to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.identity import Identity
from recollectum.domain.owner import Owner

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePreview:
    """What merging one person into another would do."""

    kept: Owner
    merged: Owner
    #: What would move to the person who is kept.
    identities: tuple[Identity, ...]
    #: By id: what others allow the merged person.
    grants: tuple[str, ...]
    #: By id; a revoked key stays where it was.
    keys: tuple[str, ...]
    #: The vaults of both, which stay under their own owners.
    kept_vaults: tuple[Owner, ...]
    merged_vaults: tuple[Owner, ...]
    #: Stands for all of this: a merge with it is refused once anything is different.
    token: str

    @property
    def effect(self) -> str:
        """What becomes of the vaults, in a sentence."""
        if not self.merged_vaults:
            return f"{self.merged} has no vault; from then on everything is remembered in that of {self.kept}"
        apart = ", ".join(map(str, self.merged_vaults))
        if not self.kept_vaults:
            return f"{self.kept} has no vault yet; to go on with {apart}, merge the other way round"
        return (
            f"vaults are not mixed: what {self.merged} was told stays in {apart}, is not recalled for {self.kept}, "
            "and can be exported from there and imported here"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One person merged into another, as the catalog keeps it."""

    id: str
    kept: Owner
    merged: Owner
    merged_at: datetime
    #: Who did it: a process.
    merged_by: str
    #: What moved, as far as it is still there.
    identities: tuple[Identity, ...] = ()
    grants: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    undone_at: datetime | None = None
    undone_by: str | None = None
