"""Person, the channel identities of a person, and the tenant whose retention policy applies."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import check_name
from recollectum.domain.records import dataclass

_WHATSAPP_SUFFIXES = ("@s.whatsapp.net", "@c.us")
_PHONE_NOISE = re.compile(r"[\s().-]")


@dataclass(frozen=True, slots=True)
class Identity:
    """One address on one channel, in the canonical form used for lookups."""

    channel: str
    address: str

    @classmethod
    def parse(cls, text: str) -> "Identity":
        """Parse `channel:address`; a phone number loses its punctuation."""
        channel, colon, address = text.partition(":")
        if not colon or not address.strip():
            raise InvalidInput(f"{text!r} is not an identity; write CHANNEL:ADDRESS, such as telegram:42")
        channel = check_name(channel, "channel").casefold()
        spelled = _phone(address) if channel in ("whatsapp", "sms", "signal") else address.strip()
        if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in spelled):
            raise InvalidInput(f"identity on channel {channel!r} holds a control character; leave it out")
        return cls(channel, spelled)

    def __str__(self) -> str:
        """Return the form that the catalog stores."""
        return f"{self.channel}:{self.address}"


def _phone(address: str) -> str:
    """Normalise a phone number: `0044 (7700) 900-000@s.whatsapp.net` and `+447700900000` are the same."""
    for suffix in _WHATSAPP_SUFFIXES:
        address = address.removesuffix(suffix)
    bare = _PHONE_NOISE.sub("", address.strip())
    bare = "+" + bare[2:] if bare.startswith("00") else bare
    return "+" + bare if bare.isdecimal() else bare


DEFAULT_TENANT = "default"


class RetentionPreset(StrEnum):
    """A named choice of how long memories are kept."""

    #: Nothing is archived or deleted by age.
    KEEP = "keep"
    #: 90 days active, 60 days archived, then the trash.
    EXPIRE = "expire"


#: A preset as callers write it: the member, or its value.
RetentionPresetName: TypeAlias = RetentionPreset | Literal["keep", "expire"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person (or agent, or group) with its channel addresses."""

    owner: Owner
    tenant: str
    created_at: datetime
    identities: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A set of people with one retention policy."""

    name: str
    created_at: datetime
    #: Days for `active`, `archive` and `grace`; a missing one follows the settings.
    retention_days: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePreview:
    """What merging one person into another would do."""

    kept: Owner
    merged: Owner
    #: What would move to the person who is kept.
    identities: tuple[Identity, ...]
    #: By id: the grants of the merged person.
    grants: tuple[str, ...]
    #: By id; revoked keys do not move.
    keys: tuple[str, ...]
    #: The vaults of both, which stay with their owners.
    kept_vaults: tuple[Owner, ...]
    merged_vaults: tuple[Owner, ...]
    #: A digest of all this: a merge is refused when anything has changed.
    token: str

    @property
    def effect(self) -> str:
        """What happens to the vaults, in a sentence."""
        if not self.merged_vaults:
            return f"{self.merged} has no vault; from then on everything is saved in the vault of {self.kept}"
        apart = ", ".join(map(str, self.merged_vaults))
        if not self.kept_vaults:
            return f"{self.kept} has no vault yet; to keep using {apart}, merge the other way round"
        return (
            f"vaults are not merged: what was saved for {self.merged} stays in {apart}, "
            f"is not recalled for {self.kept}, and can be exported from there and imported here"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One person merged into another, as the catalog stores it."""

    id: str
    kept: Owner
    merged: Owner
    merged_at: datetime
    #: Who did it: a process.
    merged_by: str
    #: What moved, as far as it still exists.
    identities: tuple[Identity, ...] = ()
    grants: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    undone_at: datetime | None = None
    undone_by: str | None = None
