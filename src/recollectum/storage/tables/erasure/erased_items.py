"""Reads and writes the purge tables of a vault: active purges, their remaining items, and blocked ids."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "id, kind, digest, by, at, state, counts"
_ADD = f"INSERT INTO purges ({_COLUMNS}) VALUES (:id, :kind, :digest, :by, :at, 'begun', :counts)"  # noqa: S608
_OPEN = f"SELECT {_COLUMNS} FROM purges WHERE state IN ('begun', 'pending') ORDER BY id"  # noqa: S608
_UNPROVEN = f"""
    SELECT {_COLUMNS} FROM purges
     WHERE state = 'failed' AND EXISTS (SELECT 1 FROM purge_samples WHERE purge_id = purges.id) ORDER BY id
"""  # noqa: S608
_STATE = "UPDATE purges SET state = :state WHERE id = :id"
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


def begin(tx: Tx, one: ActivePurge, items: Iterable[tuple[PurgeItemKind, str]]) -> None:
    """Record a purge and all of its items."""
    row = {"id": one.id, "kind": one.kind, "digest": one.digest, "by": one.by, "at": micros(one.at)}
    tx.run(_ADD, {**row, "counts": json.dumps(dict(one.counts), sort_keys=True)})
    for rank, item in items:
        tx.run(_ITEM, {"id": one.id, "rank": int(rank), "item": item})


def unfinished(tx: Tx) -> list[ActivePurge]:
    """Return the unfinished purges, oldest first."""
    return [_from_row(row) for row in tx.rows(_OPEN, {})]


def unproven(tx: Tx) -> list[ActivePurge]:
    """Return the purges that destroyed everything, but whose search found something or could not read a file."""
    return [_from_row(row) for row in tx.rows(_UNPROVEN, {})]


def set_state(tx: Tx, purge_id: str, state: str) -> None:
    """Record the progress of a purge."""
    tx.run(_STATE, {"id": purge_id, "state": state})


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


def _from_row(row: Row) -> ActivePurge:
    return ActivePurge(
        id=row[0],
        kind=row[1],
        digest=row[2],
        by=row[3],
        at=moment(row[4]),
        state=row[5],
        counts=json.loads(row[6]),
    )
