"""Reads and writes the people, identities and tenants tables of the catalog."""

import json

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import Identity, Person, Tenant
from recollectum.domain.errors import Conflict
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_ADD = """
    INSERT INTO people (owner, skeleton, tenant, created_at) VALUES (:owner, :skeleton, :tenant, :created_at)
    ON CONFLICT DO NOTHING RETURNING owner
"""
_ALIKE = "SELECT owner FROM people WHERE skeleton = :skeleton"
_ONE = "SELECT owner, tenant, created_at FROM people WHERE owner = :owner"
_ALL = "SELECT owner, tenant, created_at FROM people"
_REMOVE = "DELETE FROM people WHERE owner = :owner"
_IDENTITIES = "SELECT identity FROM identities WHERE owner = :owner"
_OWNER_OF = "SELECT owner FROM identities WHERE identity = :identity"
_LINK = "INSERT INTO identities (identity, owner) VALUES (:identity, :owner) ON CONFLICT DO NOTHING RETURNING identity"
_UNLINK = "DELETE FROM identities WHERE identity = :identity AND owner = :owner"
_SAVE_TENANT = """
    INSERT INTO tenants (name, created_at, retention_days) VALUES (:name, :created_at, :retention_days)
    ON CONFLICT (name) DO UPDATE SET retention_days = excluded.retention_days
"""
_TENANT = "SELECT name, created_at, retention_days FROM tenants WHERE name = :name"
_TENANTS = "SELECT name, created_at, retention_days FROM tenants"


def add(tx: Tx, person: Person) -> None:
    """Add a person; the name must be unused and not confusable with another."""
    skeleton = person.owner.skeleton()
    params = {
        "owner": str(person.owner),
        "skeleton": skeleton,
        "tenant": person.tenant,
        "created_at": micros(person.created_at),
    }
    if not tx.rows(_ADD, params):
        taken = tx.rows(_ALIKE, {"skeleton": skeleton})[0][0]
        raise Conflict(f"{str(person.owner)!r} looks like {taken!r}, who exists already; choose another name")


def find(tx: Tx, owner: Owner) -> Person | None:
    """Return the person of that name, with their addresses."""
    rows = tx.rows(_ONE, {"owner": str(owner)})
    return _person(tx, rows[0]) if rows else None


def everyone(tx: Tx) -> list[Person]:
    """Return all people, by name."""
    return [_person(tx, row) for row in sorted(tx.rows(_ALL, {}))]


def remove(tx: Tx, owner: Owner) -> bool:
    """Delete a person from the catalog, with their addresses, keys and grants."""
    return tx.run(_REMOVE, {"owner": str(owner)}) == 1


def owner_of(tx: Tx, identity: Identity) -> Owner | None:
    """Return the owner of an address."""
    rows = tx.rows(_OWNER_OF, {"identity": str(identity)})
    return Owner.parse(rows[0][0]) if rows else None


def link(tx: Tx, identity: Identity, owner: Owner) -> None:
    """Give a person an address; an address never belongs to two people."""
    if tx.rows(_LINK, {"identity": str(identity), "owner": str(owner)}):
        return
    if owner_of(tx, identity) != owner:
        raise Conflict(f"that {identity.channel} identity belongs to somebody else; unlink it there first")


def unlink(tx: Tx, identity: Identity, owner: Owner) -> bool:
    """Remove an address from a person."""
    return tx.run(_UNLINK, {"identity": str(identity), "owner": str(owner)}) == 1


def save_tenant(tx: Tx, tenant: Tenant) -> None:
    """Add a tenant, or change its retention."""
    params = {
        "name": tenant.name,
        "created_at": micros(tenant.created_at),
        "retention_days": json.dumps(dict(tenant.retention_days), sort_keys=True),
    }
    tx.run(_SAVE_TENANT, params)


def find_tenant(tx: Tx, name: str) -> Tenant | None:
    """Return the tenant of that name."""
    rows = tx.rows(_TENANT, {"name": name})
    return _tenant(rows[0]) if rows else None


def tenants(tx: Tx) -> list[Tenant]:
    """Return all tenants, by name."""
    return [_tenant(row) for row in sorted(tx.rows(_TENANTS, {}))]


def _person(tx: Tx, row: Row) -> Person:
    owner, tenant, created_at = row
    addresses = sorted(tx.rows(_IDENTITIES, {"owner": owner}))
    return Person(
        owner=Owner.parse(owner),
        tenant=tenant,
        created_at=moment(created_at),
        identities=tuple(Identity.parse(address[0]) for address in addresses),
    )


def _tenant(row: Row) -> Tenant:
    return Tenant(name=row[0], created_at=moment(row[1]), retention_days=json.loads(row[2]))
