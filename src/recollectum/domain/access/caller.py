"""Caller: who calls an operation, with its permissions, its grants and its API key."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from recollectum.domain.access.owner import Owner


class Permission(StrEnum):
    """What is done. `admin` is for the home itself: people, keys, grants, tenants."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


#: A permission as callers write it: the member, or its word.
PermissionName: TypeAlias = Permission | Literal["read", "write", "admin"]


class Scope(StrEnum):
    """How much of a vault an operation touches."""

    SESSION = "session"
    USER = "user"
    GLOBAL = "global"


#: A scope as callers write it: the member, or its word.
ScopeName: TypeAlias = Scope | Literal["session", "user", "global"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Leave for one person to read or write what belongs to another owner."""

    id: str
    #: The person who may.
    to: Owner
    #: Whose vault.
    owner: Owner
    permission: Permission
    scope: Scope
    #: The one session it covers, when its scope is `session`.
    session_id: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling. It is made from a credential or from the process, never from an argument."""

    #: What events call it: `process`, or `key:` and the key's id.
    name: str
    #: The person it speaks for; None for the operator of the home.
    person: Owner | None
    permissions: frozenset[Permission] = frozenset({Permission.READ, Permission.WRITE})
    grants: tuple[Grant, ...] = ()

    @property
    def operator(self) -> bool:
        """Whether this is the process owner, who could read the files anyway."""
        return self.person is None


OPERATOR = Caller(name="process", person=None, permissions=frozenset(Permission))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A credential as the catalog knows it: by id, with a digest and never the secret."""

    id: str
    person: Owner
    permissions: frozenset[Permission]
    created_at: datetime
    #: When it ends or ended; a key that was rotated may have a little time left.
    revoked_at: datetime | None = None
    #: Whose vaults it may touch beside its person's own, as the operator said when it was made.
    owners: tuple[Owner, ...] = ()


class NewKey(NamedTuple):
    """A key that was just made, and its secret, which nobody can be told again."""

    key: ApiKey
    secret: str
