"""Decides whether a caller may access an owner's vault, and names the rule that decided."""

from recollectum.domain.access.caller import ApiKey, Caller, Grant, Permission, Scope
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.records import dataclass

_DEED = {Permission.READ: "reading", Permission.WRITE: "writing", Permission.ADMIN: "managing the home"}


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """The answer, yes or no, and the reason."""

    allowed: bool
    rule: str


def decide_access(
    caller: Caller, owner: Owner | None, permission: Permission, scope: Scope, session_id: str | None = None
) -> AccessDecision:
    """Decide on access: own data is allowed, other data needs a grant, the home its operator, and keys an admin."""
    if permission not in caller.permissions:
        return AccessDecision(False, f"its key does not allow {_DEED[permission]}")
    if caller.operator:
        return AccessDecision(True, "the operator of the home")
    if permission is Permission.ADMIN and owner is None and scope is Scope.USER:
        # `reaches` and `gives` decide which keys those are.
        return AccessDecision(True, "a key with admin, for the keys of its owners")
    if permission is Permission.ADMIN or owner is None:
        return AccessDecision(False, "that is for the operator of the home")
    if owner.person == caller.person:
        return AccessDecision(True, "own data")
    wanted = Scope.GLOBAL if owner.kind is OwnerKind.GLOBAL else scope
    for grant in caller.grants:
        if _covers(grant, owner, permission, wanted, session_id):
            return AccessDecision(True, f"grant {grant.id}")
    return AccessDecision(False, f"no grant to {permission} at {wanted} scope")


def may_see(caller: Caller, owner: Owner) -> bool:
    """Return whether this caller may know that the owner's vault exists."""
    if caller.operator or owner.person == caller.person:
        return True
    return any(grant.owner == owner.person for grant in caller.grants)


def manages_key(caller: Caller, key: ApiKey) -> bool:
    """Return whether a key belongs to this caller's owners only: its person, and those the operator named for it."""
    if caller.operator:
        return True
    # A person may not pass on what others granted to them.
    named = {grant.owner for grant in caller.grants if caller.name == f"key:{grant.id}"}
    return {key.person, *key.owners} <= {caller.person, *named}


def may_issue_key(caller: Caller, key: ApiKey) -> bool:
    """Return whether a key may do no more than this caller."""
    return key.permissions <= caller.permissions


def _covers(grant: Grant, owner: Owner, permission: Permission, scope: Scope, session_id: str | None) -> bool:
    if grant.owner != owner.person or grant.permission is not permission:
        return False
    match grant.scope:
        case Scope.SESSION:
            return scope is Scope.SESSION and session_id is not None and grant.session_id == session_id
        case Scope.USER:
            return scope in (Scope.SESSION, Scope.USER)
        case Scope.GLOBAL:
            return scope is Scope.GLOBAL
