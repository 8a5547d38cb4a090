"""Caller: who calls an operation, with its permissions, its grants and its API key."""

from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from recollectum.domain.access.owner import Owner
from recollectum.domain.records import dataclass


class Permission(StrEnum):
    """What a caller may do. `admin` is for the home itself: people, keys, grants, tenants."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


#: A permission as callers write it: the member, or its value.
PermissionName: TypeAlias = Permission | Literal["read", "write", "admin"]


class Scope(StrEnum):
    """How much of a vault an operation touches."""

    SESSION = "session"
    USER = "user"
    GLOBAL = "global"


#: A scope as callers write it: the member, or its value.
ScopeName: TypeAlias = Scope | Literal["session", "user", "global"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Permission for one person to read or write another owner's vault."""

    id: str
    #: The person who gets the permission.
    to: Owner
    #: The owner of the vault.
    owner: Owner
    permission: Permission
    scope: Scope
    #: The one session it covers, when its scope is `session`.
    session_id: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling. It is derived from a credential or from the process, never from an argument."""

    #: Its name in events: `process`, or `key:` and the key's id.
    name: str
    #: The person it acts for; None for the operator of the home.
    person: Owner | None
    permissions: frozenset[Permission] = frozenset({Permission.READ, Permission.WRITE})
    grants: tuple[Grant, ...] = ()

    @property
    def operator(self) -> bool:
        """Whether this is the process owner, who could read the files anyway."""
        return self.person is None

    @property
    def by_key(self) -> bool:
        """Whether an API key says who it is; the person of a key was added before the key."""
        return self.name.startswith("key:")


OPERATOR = Caller(name="process", person=None, permissions=frozenset(Permission))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as the catalog stores it: by id, with a digest and never the secret."""

    id: str
    person: Owner
    permissions: frozenset[Permission]
    created_at: datetime
    #: When it ends or ended; a rotated key may have a grace period left.
    revoked_at: datetime | None = None
    #: Whether it has ended for good: at once, or because a grace period was seen to be over.
    revoked: bool = False
    #: The owners whose vaults it may use besides its person's own, as set when it was created.
    owners: tuple[Owner, ...] = ()


class NewKey(NamedTuple):
    """A new key and its secret, which is shown only once."""

    key: ApiKey
    secret: str
