"""Reads and writes the served_blocks table: keyed digests of the blocks that memory served last."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from recollectum.storage.port import Tx
from recollectum.storage.row_lists import values_of
from recollectum.storage.tables.trail import meta
from recollectum.storage.times import micros, moment

_ALL = "SELECT digest, head, lines, source FROM served_blocks"
_KNOWN = "SELECT digest FROM served_blocks WHERE digest IN ({digests}) AND at > :since"
_PUT = """
    INSERT INTO served_blocks (digest, head, lines, source, at) VALUES {rows}
    ON CONFLICT (digest) DO UPDATE SET at = excluded.at
"""
_COUNT = "SELECT count(*) FROM served_blocks"
_EXPIRE = "DELETE FROM served_blocks WHERE at <= :before"
_EVICT = """
    DELETE FROM served_blocks WHERE digest IN (SELECT digest FROM served_blocks ORDER BY at, digest LIMIT :count)
"""
_FORGET = "DELETE FROM served_blocks WHERE source = :source OR source = ''"
_FORGET_SESSION = """
    DELETE FROM served_blocks
     WHERE source = '' OR source IN (SELECT id FROM messages WHERE session_id = :session_id)
"""
#: The fact of the meta table that says when digests were last deleted with their text.
_FORGOTTEN = "served_forgotten"


class ServedDigest(NamedTuple):
    """The digests of a block that was served."""

    digest: bytes
    head: bytes
    lines: int
    #: The memory or message that it is made from; empty when it is made from several.
    source: str


def list_all(tx: Tx) -> list[ServedDigest]:
    """Return the digests of all blocks."""
    return sorted(ServedDigest._make(row) for row in tx.rows(_ALL, {}))


def known(tx: Tx, digests: Sequence[bytes], since: datetime) -> set[bytes]:
    """Return those of some digests that were saved after a time."""
    found: set[bytes] = set()
    for listed, params in values_of(("digest",), ((one,) for one in digests)):
        found.update(row[0] for row in tx.rows(_KNOWN.format(digests=listed), {**params, "since": micros(since)}))
    return found


def save(tx: Tx, blocks: Iterable[ServedDigest], at: datetime) -> None:
    """Save the digests of blocks that were served."""
    rows = ((*one, micros(at)) for one in blocks)
    for listed, params in values_of(("digest", "head", "lines", "source", "at"), rows):
        tx.run(_PUT.format(rows=listed), params)


def trim(tx: Tx, most: int, before: datetime) -> None:
    """Delete the digests saved before a time, and the oldest ones until `most` are left."""
    tx.run(_EXPIRE, {"before": micros(before)})
    surplus = tx.rows(_COUNT, {})[0][0] - most
    if surplus > 0:
        tx.run(_EVICT, {"count": surplus})


def forget(tx: Tx, source: str, at: datetime) -> None:
    """Delete the digests of blocks made from a memory or message, and of those made from several."""
    tx.run(_FORGET, {"source": source})
    meta.save(tx, _FORGOTTEN, str(micros(at)))


def forget_session(tx: Tx, session_id: str, at: datetime) -> None:
    """Delete the digests of blocks made from the messages of a session, which must still exist."""
    tx.run(_FORGET_SESSION, {"session_id": session_id})
    meta.save(tx, _FORGOTTEN, str(micros(at)))


def last_forgotten(tx: Tx) -> datetime | None:
    """Return when digests were last deleted because their text was destroyed."""
    found = meta.find(tx, _FORGOTTEN)
    return moment(int(found)) if found else None
