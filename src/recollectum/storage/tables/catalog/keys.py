"""Reads and writes the api_keys and grants tables of the catalog."""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import groupby

from recollectum.domain.access.caller import ApiKey, Grant, Permission, Scope
from recollectum.domain.access.owner import Owner
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none

# A key is looked up at each request, and parsing a name takes longer than finding its row.
_owner = lru_cache(maxsize=4096)(Owner.parse)

_ADD_KEY = """
    INSERT INTO api_keys (id, digest, owner, permissions, created_at)
    VALUES (:id, :digest, :owner, :permissions, :created_at)
"""
_ADD_OWNER = "INSERT INTO key_owners (key_id, owner) VALUES (:key_id, :owner)"
_FIELDS = """
    SELECT api_keys.id, api_keys.owner, permissions, created_at, revoked_at, revoked, key_owners.owner
      FROM api_keys LEFT JOIN key_owners ON key_owners.key_id = api_keys.id
"""
_KEY = _FIELDS + "WHERE digest = :digest"
_KEY_BY_ID = _FIELDS + "WHERE api_keys.id = :id"
_KEYS = _FIELDS + "ORDER BY api_keys.id"
_REVOKE = """
    UPDATE api_keys SET revoked_at = :now, revoked = 1
     WHERE id = :id AND revoked = 0 AND (revoked_at IS NULL OR revoked_at > :now)
"""
_END_AT = """
    UPDATE api_keys SET revoked_at = :at
     WHERE id = :id AND revoked = 0 AND (revoked_at IS NULL OR revoked_at > :now)
"""
_CONFIRM_END = "UPDATE api_keys SET revoked = 1 WHERE id = :id AND revoked_at IS NOT NULL"
_ADD_GRANT = """
    INSERT INTO grants (id, grantee, owner, permission, scope, session_id, created_at)
    VALUES (:id, :grantee, :owner, :permission, :scope, :session_id, :created_at)
"""
_GRANTS_TO = """
    SELECT id, grantee, owner, permission, scope, session_id, created_at FROM grants
     WHERE grantee = :grantee ORDER BY id
"""
_GRANTS = "SELECT id, grantee, owner, permission, scope, session_id, created_at FROM grants ORDER BY id"
_WITHDRAW = "DELETE FROM grants WHERE id = :id"


def add(tx: Tx, key: ApiKey, digest: bytes) -> None:
    """Store a key by the digest of its secret."""
    params = {
        "id": key.id,
        "digest": digest,
        "owner": str(key.person),
        "permissions": ",".join(sorted(key.permissions)),
        "created_at": micros(key.created_at),
    }
    tx.run(_ADD_KEY, params)
    for owner in key.owners:
        tx.run(_ADD_OWNER, {"key_id": key.id, "owner": str(owner)})


def find_by_id(tx: Tx, key_id: str) -> ApiKey | None:
    """Return the key with that id, or None."""
    return next(_keys(tx.rows(_KEY_BY_ID, {"id": key_id})), None)


def find(tx: Tx, digest: bytes) -> ApiKey | None:
    """Return the key with that digest, or None."""
    return next(_keys(tx.rows(_KEY, {"digest": digest})), None)


def everything(tx: Tx) -> list[ApiKey]:
    """Return all keys, oldest first."""
    return list(_keys(tx.rows(_KEYS, {})))


def revoke(tx: Tx, key_id: str, now: datetime) -> bool:
    """End a key at once and for good; return False if it has ended already."""
    return tx.run(_REVOKE, {"id": key_id, "now": micros(now)}) == 1


def end_at(tx: Tx, key_id: str, at: datetime, now: datetime) -> bool:
    """Set the end of a key to a later time; return False if it has ended already."""
    return tx.run(_END_AT, {"id": key_id, "at": micros(at), "now": micros(now)}) == 1


def confirm_end(tx: Tx, key_id: str) -> None:
    """Record that the end of a key has come, so that it stays ended when the clock is set back."""
    tx.run(_CONFIRM_END, {"id": key_id})


def add_grant(tx: Tx, grant: Grant) -> None:
    """Store a grant."""
    params = {
        "id": grant.id,
        "grantee": str(grant.to),
        "owner": str(grant.owner),
        "permission": grant.permission,
        "scope": grant.scope,
        "session_id": grant.session_id,
        "created_at": micros(grant.created_at),
    }
    tx.run(_ADD_GRANT, params)


def grants_to(tx: Tx, person: Owner) -> tuple[Grant, ...]:
    """Return the grants that others gave to a person."""
    return tuple(_grant(row) for row in tx.rows(_GRANTS_TO, {"grantee": str(person)}))


def grants(tx: Tx) -> list[Grant]:
    """Return all grants, oldest first."""
    return [_grant(row) for row in tx.rows(_GRANTS, {})]


def withdraw(tx: Tx, grant_id: str) -> bool:
    """End a grant."""
    return tx.run(_WITHDRAW, {"id": grant_id}) == 1


def _keys(rows: list[Row]) -> Iterator[ApiKey]:
    """Yield the keys; a key has one row for each owner that it is limited to."""
    for _, of_one in groupby(rows, key=lambda row: row[0]):
        yield _key(list(of_one))


def _key(rows: list[Row]) -> ApiKey:
    row = rows[0]
    return ApiKey(
        id=row[0],
        person=_owner(row[1]),
        permissions=frozenset(Permission(word) for word in row[2].split(",") if word),
        created_at=moment(row[3]),
        revoked_at=moment_or_none(row[4]),
        revoked=bool(row[5]),
        owners=tuple(_owner(name) for name in sorted(one[6] for one in rows if one[6] is not None)),
    )


def _grant(row: Row) -> Grant:
    return Grant(
        id=row[0],
        to=_owner(row[1]),
        owner=_owner(row[2]),
        permission=Permission(row[3]),
        scope=Scope(row[4]),
        session_id=row[5],
        created_at=moment(row[6]),
    )
