"""Manages people, their channel addresses and tenants, and merges two people into one."""

import builtins
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.access.person import (
    DEFAULT_TENANT,
    Identity,
    Merge,
    MergePreview,
    Person,
    RetentionPreset,
    RetentionPresetName,
    Tenant,
)
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.ids import Clock, IdMaker, check_name, parse_enum
from recollectum.policy.actions import Action
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import keys, merges, people, vaults
from recollectum.vault.gate import Gate, operation
from recollectum.vault.retention.periods import PRESETS


def preview_merge(tx: Tx, kept: Owner, merged: Owner) -> MergePreview:
    """Return what merging `merged` into `kept` would do now; raise when the two may not be merged."""
    keeper, other = _check_mergeable(tx, kept, merged)
    grants = tuple(grant.id for grant in keys.grants_to(tx, merged))
    live = tuple(key.id for key in keys.everything(tx) if key.person == merged and key.revoked_at is None)
    owners = [entry.owner for entry in vaults.everything(tx)]
    kept_vaults = tuple(owner for owner in owners if owner.person == kept)
    merged_vaults = tuple(owner for owner in owners if owner.person == merged)
    seen = [keeper.identities, other.identities, grants, live, kept_vaults, merged_vaults]
    return MergePreview(
        kept=kept,
        merged=merged,
        identities=other.identities,
        grants=grants,
        keys=live,
        kept_vaults=kept_vaults,
        merged_vaults=merged_vaults,
        token=_merge_token([str(kept), str(merged), *([str(one) for one in part] for part in seen)]),
    )


def apply_merge(tx: Tx, agreed: tuple[Owner, Owner, str], merge_id: str, at: datetime, by: str) -> Merge:
    """Merge two people as the preview behind the token described it."""
    kept, merged, token = agreed
    if preview_merge(tx, kept, merged).token != token:
        raise Conflict(f"{kept} or {merged} changed since the preview; make a new preview")
    merges.add(tx, Merge(id=merge_id, kept=kept, merged=merged, merged_at=at, merged_by=by))
    return _load_merge(tx, merge_id)


def undo_merge(tx: Tx, merge_id: str, at: datetime, by: str) -> Merge:
    """Undo a merge: move everything back, except what was removed since."""
    merge = _load_merge(tx, merge_id)
    if merge.undone_at is not None:
        raise Conflict(f"merge {merge_id!r} is undone already")
    later = merges.standing(tx, merge.kept)
    if later is not None:
        raise Conflict(f"{merge.kept} was merged into {later.kept} since; undo {later.id!r} first")
    merges.undo(tx, merge, at, by)
    return _load_merge(tx, merge_id)


def check_unmerged(tx: Tx, owner: Owner) -> None:
    """Raise when the person was merged into another, who must get it instead."""
    standing = merges.standing(tx, owner)
    if standing is not None:
        raise Conflict(f"{owner} is part of {standing.kept} by merge {standing.id!r}; name that one, or undo the merge")


def _check_mergeable(tx: Tx, kept: Owner, merged: Owner) -> tuple[Person, Person]:
    if kept == merged:
        raise InvalidInput(f"{kept} cannot be merged with itself; name two people")
    found: list[Person] = []
    for owner in (kept, merged):
        if owner.kind is not OwnerKind.USER:
            raise InvalidInput(f"{owner} is not a person, and only people can be merged; name two users")
        person = people.find(tx, owner)
        if person is None:
            raise NotFound(f"there is no {owner.kind} {owner.name!r} in this home; add it first")
        check_unmerged(tx, owner)
        found.append(person)
    keeper, other = found
    if keeper.tenant != other.tenant:
        raise InvalidInput(
            f"{kept} and {merged} belong to different tenants with different rules, so they cannot be merged"
        )
    return keeper, other


def _load_merge(tx: Tx, merge_id: str) -> Merge:
    merge = merges.find(tx, merge_id)
    if merge is None:
        raise NotFound(f"there is no merge {merge_id!r} in this home")
    return merge


def _merge_token(seen: list[str | list[str]]) -> str:
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


_PERIODS = ("active", "archive", "grace")
_MOST_DAYS = 36_500


class People:
    """The people in the catalog; for the operator of the home."""

    def __init__(self, catalog: Database, gate: Gate, clock: Clock) -> None:
        self._catalog = catalog
        self._gate = gate
        self._clock = clock
        self._ids = IdMaker(clock)

    @property
    def gate(self) -> Gate:
        """The gate that checks every operation."""
        return self._gate

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def add(self, owner: str | Owner, *, tenant: str = DEFAULT_TENANT) -> Person:
        """Add a person; refuse a name that is taken or looks like one that is."""
        person = Person(owner=_person_of(owner), tenant=tenant, created_at=self._clock())

        def change(tx: Tx) -> Person:
            ensure_tenant(tx, tenant, self._clock)
            people.add(tx, person)
            return person

        return self._catalog.write(change)

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def get(self, owner: str | Owner) -> Person:
        """Return the person with that name."""
        wanted = _person_of(owner)
        return self._catalog.read(lambda tx: _get_person(tx, wanted))

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def list(self) -> builtins.list[Person]:
        """Return all people, by name."""
        return self._catalog.read(people.everyone)

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def add_identity(self, owner: str | Owner, identity: str) -> Person:
        """Give a person a channel address, such as telegram:42; an address belongs to one person only."""
        wanted, address = _person_of(owner), Identity.parse(identity)

        def change(tx: Tx) -> Person:
            _get_person(tx, wanted)
            check_unmerged(tx, wanted)
            people.link(tx, address, wanted)
            return _get_person(tx, wanted)

        return self._catalog.write(change)

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def remove_identity(self, owner: str | Owner, identity: str) -> Person:
        """Remove a channel address from a person."""
        wanted, address = _person_of(owner), Identity.parse(identity)

        def change(tx: Tx) -> Person:
            if not people.unlink(tx, address, wanted):
                raise NotFound(f"{wanted} has no such {address.channel} identity")
            return _get_person(tx, wanted)

        return self._catalog.write(change)

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def resolve(self, identity: str) -> Owner | None:
        """Return the person who has a channel address, or None."""
        address = Identity.parse(identity)
        return self._catalog.read(lambda tx: people.owner_of(tx, address))

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def preview_merge(self, kept: str | Owner, merged: str | Owner) -> MergePreview:
        """Return what merging the second person into the first would move, and what becomes of their vaults."""
        one, other = _person_of(kept), _person_of(merged)
        return self._catalog.read(lambda tx: preview_merge(tx, one, other))

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def merge(self, kept: str | Owner, merged: str | Owner, token: str) -> Merge:
        """Merge two people into one as the preview with this token described it, in one transaction.

        Only the operator may merge: a person's own key proves who they are, but not that somebody else is the same
        person.
        """
        agreed = (_person_of(kept), _person_of(merged), token)
        return self._catalog.write(
            lambda tx: apply_merge(tx, agreed, self._ids("mrg"), self._clock(), self.gate.caller.name)
        )

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def unmerge(self, merge_id: str) -> Merge:
        """Undo a merge: move everything back, except what was removed since."""
        return self._catalog.write(lambda tx: undo_merge(tx, merge_id, self._clock(), self.gate.caller.name))

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def list_merges(self) -> builtins.list[Merge]:
        """Return all merges, oldest first: who was merged into whom, when, by whom, and whether it was undone."""
        return self._catalog.read(merges.everything)

    @operation(Action.PERSON_READ, Scope.GLOBAL)
    def list_tenants(self) -> builtins.list[Tenant]:
        """Return all tenants, by name."""
        return self._catalog.read(people.tenants)

    @operation(Action.PERSON_WRITE, Scope.GLOBAL)
    def save_tenant(self, name: str, retention_days: Mapping[str, int] | RetentionPresetName) -> Tenant:
        """Add a tenant, or change its retention: the days of the active, archive and grace periods, or a preset.

        A preset leaves the grace period as it is.
        """
        preset = isinstance(retention_days, str)
        days = (
            PRESETS[parse_enum(RetentionPreset, retention_days, "retention preset")]
            if isinstance(retention_days, str)
            else _checked_days(retention_days)
        )
        checked = check_name(name, "tenant")

        def change(tx: Tx) -> Tenant:
            standing = people.find_tenant(tx, checked)
            before = standing or Tenant(name=checked, created_at=self._clock(), retention_days={})
            chosen = replace(before, retention_days={**before.retention_days, **days} if preset else days)
            people.save_tenant(tx, chosen)
            return chosen

        return self._catalog.write(change)


def _checked_days(days: Mapping[str, int]) -> Mapping[str, int]:
    for period, count in days.items():
        if period not in _PERIODS or not 0 <= count <= _MOST_DAYS:
            raise InvalidInput(
                f"retention {period}={count} is not allowed; use {', '.join(_PERIODS)} with 0 to {_MOST_DAYS} days"
            )
    return days


def ensure_tenant(tx: Tx, name: str, clock: Clock) -> None:
    """Create the default tenant when it is first needed; require any other tenant to exist."""
    if people.find_tenant(tx, name):
        return
    if name != DEFAULT_TENANT:
        raise NotFound(f"there is no tenant {name!r}; make it first")
    people.save_tenant(tx, Tenant(name=name, created_at=clock(), retention_days={}))


def _person_of(owner: str | Owner) -> Owner:
    parsed = owner if isinstance(owner, Owner) else Owner.parse(owner)
    return parsed.person


def _get_person(tx: Tx, owner: Owner) -> Person:
    person = people.find(tx, owner)
    if person is None:
        raise NotFound(f"there is no {owner.kind} {owner.name!r} in this home; add it first")
    return person
