"""Keys and grants: how others than the process owner come in, and what they may do."""

import hashlib
import secrets
from collections.abc import Iterable

from recollect.domain.caller import ApiKey, Caller, Grant, Permission, Scope
from recollect.domain.errors import Denied, InvalidInput, NotFound
from recollect.domain.ids import Clock, IdMaker
from recollect.domain.owner import Owner, OwnerKind
from recollect.storage.port import Database, Tx
from recollect.storage.tables import keys, people
from recollect.vault.gate import Gate, operation

_ADMIN = operation(Permission.ADMIN, Scope.GLOBAL)
_PREFIX = "rk_"
_BYTES = 32


class Keys:
    """API keys and grants; for the operator of the home."""

    def __init__(self, catalog: Database, gate: Gate, clock: Clock, ids: IdMaker) -> None:
        self._catalog = catalog
        self._gate = gate
        self._clock = clock
        self._ids = ids

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._gate

    @_ADMIN
    def create(self, person: str, *, permissions: Iterable[str] = ("read", "write")) -> tuple[ApiKey, str]:
        """A new key for a person, and its secret, which is shown this once and not kept."""
        allowed = frozenset(_permission(word) for word in permissions)
        if not allowed or Permission.ADMIN in allowed:
            raise InvalidInput("a person's key may have read, write or both; choose one of them")
        secret = _PREFIX + secrets.token_urlsafe(_BYTES)
        owner = Owner.parse(person).person
        key = ApiKey(id=self._ids("key"), person=owner, permissions=allowed, created_at=self._clock())

        def change(tx: Tx) -> None:
            _check_exists(tx, owner)
            keys.add(tx, key, _digest(secret))

        self._catalog.write(change)
        return key, secret

    @_ADMIN
    def all(self) -> list[ApiKey]:
        """All keys by id, oldest first; never a secret."""
        return self._catalog.read(keys.everything)

    @_ADMIN
    def revoke(self, key_id: str) -> None:
        """End a key at once."""
        if not self._catalog.write(lambda tx: keys.revoke(tx, key_id, self._clock())):
            raise NotFound(f"there is no key {key_id!r} to revoke")

    @_ADMIN
    def grant(
        self, to: str, owner: str, permission: str, *, scope: str = "user", session_id: str | None = None
    ) -> Grant:
        """Allow a person to read or write another owner's vault, or one session of it, or the global one."""
        grant = Grant(
            id=self._ids("grt"),
            to=Owner.parse(to).person,
            owner=Owner.parse(owner).person,
            permission=_permission(permission),
            scope=_scope(scope),
            session_id=session_id,
            created_at=self._clock(),
        )
        _check_grant(grant)

        def change(tx: Tx) -> None:
            _check_exists(tx, grant.to)
            keys.add_grant(tx, grant)

        self._catalog.write(change)
        return grant

    @_ADMIN
    def grants(self) -> list[Grant]:
        """All grants, oldest first."""
        return self._catalog.read(keys.grants)

    @_ADMIN
    def withdraw(self, grant_id: str) -> None:
        """End a grant at once."""
        if not self._catalog.write(lambda tx: keys.withdraw(tx, grant_id)):
            raise NotFound(f"there is no grant {grant_id!r} to withdraw")


def caller_of(catalog: Database, secret: str) -> Caller:
    """The caller that a secret stands for; a wrong or revoked one is nobody."""

    def load(tx: Tx) -> Caller | None:
        # Looked up by digest: nothing is compared that a stopwatch could tell apart.
        key = keys.find(tx, _digest(secret))
        if key is None or key.revoked_at is not None:
            return None
        return Caller(
            name=f"key:{key.id}",
            person=key.person,
            permissions=key.permissions,
            grants=keys.grants_to(tx, key.person),
        )

    caller = catalog.read(load)
    if caller is None:
        raise Denied("this key is not known here, or was revoked; ask the operator of the home for one")
    return caller


def caller_for(catalog: Database, person: Owner) -> Caller:
    """A person as the caller, on the operator's word: what a channel adapter acts as."""
    allowed = catalog.read(lambda tx: keys.grants_to(tx, person))
    return Caller(name=f"person:{person}", person=person, grants=allowed)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _check_exists(tx: Tx, owner: Owner) -> None:
    if people.find(tx, owner) is None:
        raise NotFound(f"there is no {owner.kind} {owner.name!r} in this home; add it first")


def _check_grant(grant: Grant) -> None:
    if grant.permission is Permission.ADMIN:
        raise InvalidInput("admin cannot be granted; choose read or write")
    if (grant.scope is Scope.SESSION) != (grant.session_id is not None):
        raise InvalidInput("a grant of scope session names a session id, and no other does")
    if (grant.scope is Scope.GLOBAL) != (grant.owner.kind is OwnerKind.GLOBAL):
        raise InvalidInput("scope global is for the owner global, and only for it")


def _permission(word: str) -> Permission:
    try:
        return Permission(word)
    except ValueError:
        raise InvalidInput(f"permission {word!r} is unknown; use read or write") from None


def _scope(word: str) -> Scope:
    try:
        return Scope(word)
    except ValueError:
        raise InvalidInput(f"scope {word!r} is unknown; use one of {', '.join(Scope)}") from None
