"""Merging two people: what would move, whether it may, and the way back."""

import hashlib
import json
from datetime import datetime

from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.owner import Owner, OwnerKind
from recollectum.domain.person import Merge, MergePreview, Person
from recollectum.storage.port import Tx
from recollectum.storage.tables import keys, merges, people, vaults


def preview(tx: Tx, kept: Owner, merged: Owner) -> MergePreview:
    """What merging `merged` into `kept` would do now; what may not be merged is refused."""
    keeper, other = _checked(tx, kept, merged)
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
        token=_token([str(kept), str(merged), *([str(one) for one in part] for part in seen)]),
    )


def apply(tx: Tx, agreed: tuple[Owner, Owner, str], merge_id: str, at: datetime, by: str) -> Merge:
    """Merge as the preview said that the token is of."""
    kept, merged, token = agreed
    if preview(tx, kept, merged).token != token:
        raise Conflict(f"{kept} or {merged} changed since the preview; look at it again")
    merges.add(tx, Merge(id=merge_id, kept=kept, merged=merged, merged_at=at, merged_by=by))
    return _stored(tx, merge_id)


def undo(tx: Tx, merge_id: str, at: datetime, by: str) -> Merge:
    """Give back what a merge moved, except what was taken away since."""
    merge = _stored(tx, merge_id)
    if merge.undone_at is not None:
        raise Conflict(f"merge {merge_id!r} is undone already")
    later = merges.standing(tx, merge.kept)
    if later is not None:
        raise Conflict(f"{merge.kept} was merged into {later.kept} since; undo {later.id!r} first")
    merges.undo(tx, merge, at, by)
    return _stored(tx, merge_id)


def check_unmerged(tx: Tx, owner: Owner) -> None:
    """Refuse to give anything to a person who is part of another now."""
    standing = merges.standing(tx, owner)
    if standing is not None:
        raise Conflict(f"{owner} is part of {standing.kept} by merge {standing.id!r}; name that one, or undo the merge")


def _checked(tx: Tx, kept: Owner, merged: Owner) -> tuple[Person, Person]:
    if kept == merged:
        raise InvalidInput(f"{kept} cannot be merged with itself; name two people")
    found: list[Person] = []
    for owner in (kept, merged):
        if owner.kind is not OwnerKind.USER:
            raise InvalidInput(f"{owner} is no person, and only people are merged; name two users")
        person = people.find(tx, owner)
        if person is None:
            raise NotFound(f"there is no {owner.kind} {owner.name!r} in this home; add it first")
        check_unmerged(tx, owner)
        found.append(person)
    keeper, other = found
    if keeper.tenant != other.tenant:
        raise InvalidInput(f"{kept} and {merged} are of different tenants, whose rules differ; they stay apart")
    return keeper, other


def _stored(tx: Tx, merge_id: str) -> Merge:
    merge = merges.find(tx, merge_id)
    if merge is None:
        raise NotFound(f"there is no merge {merge_id!r} in this home")
    return merge


def _token(seen: list[str | list[str]]) -> str:
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()
