"""Reads and writes the purge tables of a vault: active purges, their remaining items, and blocked ids."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import IntEnum

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta
from recollectum.storage.times import micros, moment

#: Begins the name in meta of a purge that is not done.
_NAME = "purge:"
_BEGUN, _PENDING, _FAILED, _FINISHED = "begun", "pending", "failed", "done"
_SAMPLED = "SELECT DISTINCT purge_id FROM purge_samples"
_ITEM = "INSERT INTO purge_items (purge_id, rank, item) VALUES (:id, :rank, :item) ON CONFLICT DO NOTHING"
_NEXT = "SELECT rank, item FROM purge_items WHERE purge_id = :id ORDER BY rank, item LIMIT :limit"
_ALL = "SELECT rank, item FROM purge_items WHERE purge_id = :id"
_DONE = "DELETE FROM purge_items WHERE purge_id = :id AND rank = :rank AND item = :item"
_BAR = "INSERT INTO erased (id) VALUES (:id) ON CONFLICT DO NOTHING"


class PurgeItemKind(IntEnum):
    """The kinds of purge items, in the order of deletion."""

    MEMORY = 1
    MESSAGE = 2
    SESSION = 3
    FOLDER = 4
    ROOT = 5
    #: A memory that stays, and loses some of its citations.
    CITING = 6
    #: The name and the folders of a project.
    PROJECT = 7
    #: A command of a shell.
    COMMAND = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePurge:
    """A purge that is not finished."""

    id: str
    kind: str
    digest: str
    by: str
    at: datetime
    state: str
    counts: Mapping[str, int]
    #: Whether the vault gets a new key, and whether it has it.
    shred: bool = False
    shredded: bool = False


def begin(tx: Tx, one: ActivePurge, items: Iterable[tuple[PurgeItemKind, str]]) -> None:
    """Record a purge and all of its items."""
    _save(tx, replace(one, state=_BEGUN))
    for rank, item in items:
        tx.run(_ITEM, {"id": one.id, "rank": int(rank), "item": item})


def unfinished(tx: Tx) -> list[ActivePurge]:
    """Return the unfinished purges, oldest first."""
    return [one for one in _recorded(tx) if one.state in (_BEGUN, _PENDING)]


def unproven(tx: Tx) -> list[ActivePurge]:
    """Return the purges that destroyed everything, but whose search found something or could not read a file."""
    sampled = {row[0] for row in tx.rows(_SAMPLED, {})}
    return [one for one in _recorded(tx) if one.state == _FAILED and one.id in sampled]


def set_state(tx: Tx, purge_id: str, state: str) -> None:
    """Record the progress of a purge; of one that is done, only the receipt is kept."""
    name = _NAME + purge_id
    known = meta.find(tx, name)
    if known is None:
        return
    if state == _FINISHED:
        meta.remove(tx, name)
    else:
        _save(tx, replace(_from_meta(name, known), state=state))


def set_shredded(tx: Tx, purge_id: str) -> None:
    """Record that the vault has the new key that a purge asked for."""
    name = _NAME + purge_id
    known = meta.find(tx, name)
    if known is not None:
        _save(tx, replace(_from_meta(name, known), shredded=True))


def next_items(tx: Tx, purge_id: str, limit: int) -> list[tuple[PurgeItemKind, str]]:
    """Return the next items to delete."""
    return [(PurgeItemKind(row[0]), row[1]) for row in tx.rows(_NEXT, {"id": purge_id, "limit": limit})]


def items(tx: Tx, purge_id: str) -> list[tuple[PurgeItemKind, str]]:
    """Return all items that are still to be deleted."""
    return [(PurgeItemKind(row[0]), row[1]) for row in tx.rows(_ALL, {"id": purge_id})]


def item_done(tx: Tx, purge_id: str, rank: PurgeItemKind, item: str) -> None:
    """Record that an item is deleted."""
    tx.run(_DONE, {"id": purge_id, "rank": int(rank), "item": item})


def bar(tx: Tx, item_id: str) -> None:
    """Block an id, so that no session or message with it is accepted again."""
    tx.run(_BAR, {"id": item_id})


def _recorded(tx: Tx) -> list[ActivePurge]:
    return [_from_meta(name, value) for name, value in meta.beginning_with(tx, _NAME)]


def _save(tx: Tx, one: ActivePurge) -> None:
    told = {"kind": one.kind, "digest": one.digest, "by": one.by, "at": micros(one.at), "state": one.state}
    told |= {"shred": True, "shredded": one.shredded} if one.shred else {}
    meta.save(tx, _NAME + one.id, json.dumps({**told, "counts": dict(one.counts)}, sort_keys=True))


def _from_meta(name: str, value: str) -> ActivePurge:
    told = json.loads(value)
    return ActivePurge(
        id=name.removeprefix(_NAME),
        kind=told["kind"],
        digest=told["digest"],
        by=told["by"],
        at=moment(told["at"]),
        state=told["state"],
        counts=told["counts"],
        shred=told.get("shred", False),
        shredded=told.get("shredded", False),
    )
