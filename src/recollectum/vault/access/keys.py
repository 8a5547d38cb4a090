"""Creates, rotates and revokes API keys, manages grants, and turns a key into a caller."""

import builtins
import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from recollectum.domain.access.caller import ApiKey, Caller, Grant, NewKey, Permission, PermissionName, Scope, ScopeName
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, InvalidInput, KeysRefused, NotFound
from recollectum.domain.ids import Clock, IdMaker, parse_enum
from recollectum.policy.access import manages_key, may_issue_key
from recollectum.policy.actions import Action
from recollectum.storage.port import Database, Tx
from recollectum.storage.read_cache import ReadCache
from recollectum.storage.tables.catalog import catalog_changes, keys, people
from recollectum.vault.access.latest_time import LatestTime
from recollectum.vault.gate import Gate, operation

#: Allowed for the operator, and for a key with admin rights over the keys of its own owners.
_PREFIX = "rk_"
_BYTES = 32
_MOST_GRACE = timedelta(days=90)


class Keys:
    """API keys and grants. The operator of the home manages both; a key with `admin` manages the keys of its owners."""

    def __init__(self, catalog: Database, gate: Gate, clock: Clock, ids: IdMaker) -> None:
        self._catalog = catalog
        self._gate = gate
        self._clock = clock
        self._ids = ids

    @property
    def gate(self) -> Gate:
        """The gate that checks every operation."""
        return self._gate

    @operation(Action.KEY_WRITE, Scope.USER)
    def add(
        self, person: str, *, permissions: Iterable[PermissionName] = ("read", "write"), owners: Iterable[str] = ()
    ) -> NewKey:
        """Create an API key for a person; return it with its secret, which is shown once and never stored.

        The key opens the person's own vault and the vaults of `owners`. It has the same permissions in all of them, but
        what it writes in another owner's vault is not trusted as that owner's word. With `admin` it also creates and
        revokes keys of these owners.
        """
        allowed = frozenset(parse_enum(Permission, word, "permission") for word in permissions)
        if not allowed - {Permission.ADMIN}:
            raise InvalidInput("a key needs read or write, with or without admin; choose at least one of them")
        owner = Owner.parse(person).person
        named = {Owner.parse(one).person for one in owners} - {owner}
        key = ApiKey(
            id=self._ids("key"),
            person=owner,
            permissions=allowed,
            created_at=self._clock(),
            owners=tuple(sorted(named, key=str)),
        )
        caller = self._gate.caller_now()
        if not manages_key(caller, key):
            # The error does not tell whether they exist in this home.
            raise NotFound("there is no such owner for this key; name one that it was made for")
        if not may_issue_key(caller, key):
            raise Denied(f"{caller.name} may not grant a permission that it does not have; leave it out")
        return NewKey(key, self._catalog.write(lambda tx: _insert_key(tx, key)))

    @operation(Action.KEY_WRITE, Scope.USER)
    def rotate(self, key_id: str, *, grace: timedelta = timedelta(0)) -> NewKey:
        """Replace a key by a new one; return it with its secret. The old key ends at once, or after a grace period."""
        if grace < timedelta(0) or grace > _MOST_GRACE:
            raise InvalidInput(f"a grace of {grace} is not allowed; use 0 to {_MOST_GRACE.days} days")
        now, caller = self._clock(), self._gate.caller_now()

        def change(tx: Tx) -> NewKey:
            old = _get_managed_key(tx, caller, key_id)
            ended = keys.end_at(tx, key_id, now + grace, now) if grace else keys.revoke(tx, key_id, now)
            if not ended:
                raise _no_key(key_id)
            new = replace(old, id=self._ids("key"), created_at=now, revoked_at=None, revoked=False)
            return NewKey(new, _insert_key(tx, new))

        return self._catalog.write(change)

    @operation(Action.KEY_READ, Scope.USER)
    def list(self) -> builtins.list[ApiKey]:
        """Return all keys that the caller manages, by id, oldest first; never their secrets."""
        caller = self._gate.caller_now()
        return [key for key in self._catalog.read(keys.everything) if _manages(caller, key)]

    @operation(Action.KEY_WRITE, Scope.USER)
    def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key at once; return the key as it was."""
        now, caller = self._clock(), self._gate.caller_now()

        def change(tx: Tx) -> ApiKey:
            known = _get_managed_key(tx, caller, key_id)
            if not keys.revoke(tx, key_id, now):
                raise _no_key(key_id)
            return known

        return self._catalog.write(change)

    @operation(Action.KEY_WRITE, Scope.GLOBAL)
    def add_grant(
        self,
        to: str,
        owner: str,
        permission: PermissionName,
        *,
        scope: ScopeName = "user",
        session_id: str | None = None,
    ) -> Grant:
        """Allow a person to read or write another owner's vault, or one session of it, or the global one."""
        grant = Grant(
            id=self._ids("grt"),
            to=Owner.parse(to).person,
            owner=Owner.parse(owner).person,
            permission=parse_enum(Permission, permission, "permission"),
            scope=parse_enum(Scope, scope, "scope"),
            session_id=session_id,
            created_at=self._clock(),
        )
        _check_grant(grant)

        def change(tx: Tx) -> None:
            _check_exists(tx, grant.to)
            keys.add_grant(tx, grant)

        self._catalog.write(change)
        return grant

    @operation(Action.KEY_READ, Scope.GLOBAL)
    def list_grants(self) -> builtins.list[Grant]:
        """Return all grants, oldest first."""
        return self._catalog.read(keys.grants)

    @operation(Action.KEY_WRITE, Scope.GLOBAL)
    def revoke_grant(self, grant_id: str) -> None:
        """End a grant at once."""
        if not self._catalog.write(lambda tx: keys.withdraw(tx, grant_id)):
            raise NotFound(f"there is no grant {grant_id!r} to withdraw")


def caller_of(catalog: ReadCache, secret: str, latest: LatestTime) -> Caller:
    """Return the caller that a secret belongs to; raise `Denied` when the secret is unknown or revoked."""
    # Looked up by digest, so that timing reveals nothing about the secret.
    digest = _digest(secret)

    def load(tx: Tx) -> tuple[ApiKey, Caller] | None:
        if catalog_changes.find_missing(tx):
            raise KeysRefused(
                "no key is accepted now: the catalog of this home is older than last seen, so a revoked key could work "
                "again; its operator settles that with: recollectum doctor"
            )
        key = keys.find(tx, digest)
        if key is None:
            return None
        return key, Caller(
            name=f"key:{key.id}",
            person=key.person,
            permissions=key.permissions,
            grants=(*keys.grants_to(tx, key.person), *_implied_grants(key)),
        )

    found = catalog.read(("key", digest), load)
    if found is None or _has_ended(found[0], latest):
        raise Denied("this key is not known here, or was revoked; ask the operator of the home for one")
    return found[1]


def _has_ended(key: ApiKey, latest: LatestTime) -> bool:
    """Return whether a key has ended; record the end of a grace period when it is first seen to be over."""
    if key.revoked or key.revoked_at is None:
        latest.note()
        return key.revoked
    if key.revoked_at > latest():
        return False
    latest.store(lambda tx: keys.confirm_end(tx, key.id))
    return True


def _implied_grants(key: ApiKey) -> list[Grant]:
    """Return the owners that a key was created for, as grants that come with the key."""
    return [
        Grant(
            id=key.id,
            to=key.person,
            owner=owner,
            permission=permission,
            scope=Scope.GLOBAL if owner.kind is OwnerKind.GLOBAL else Scope.USER,
            created_at=key.created_at,
        )
        for owner in key.owners
        for permission in sorted(key.permissions - {Permission.ADMIN})
    ]


def _insert_key(tx: Tx, key: ApiKey) -> str:
    """Insert a key after checking that all its people exist; return its secret."""
    for owner in (key.person, *key.owners):
        _check_exists(tx, owner)
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)
    keys.add(tx, key, _digest(secret))
    return secret


def caller_for(catalog: ReadCache, person: Owner) -> Caller:
    """Return a caller that acts as a person, authorised by the operator; channel adapters use it."""
    allowed = catalog.read(("grants", person), lambda tx: keys.grants_to(tx, person))
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


def _manages(caller: Caller, key: ApiKey) -> bool:
    return manages_key(caller, key) and may_issue_key(caller, key)


def _get_managed_key(tx: Tx, caller: Caller, key_id: str) -> ApiKey:
    """Return a key that the caller manages; raise `NotFound` for a key with wider access or more permissions."""
    key = keys.find_by_id(tx, key_id)
    if key is None or not _manages(caller, key):
        raise _no_key(key_id)
    return key


def _no_key(key_id: str) -> NotFound:
    return NotFound(f"there is no key {key_id!r} that is in use; `keys` lists them")
