"""Lists memories by the state that a reader sees, newest first, by an index."""

import json
from collections.abc import Iterable
from functools import cache

from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.page import LAST_NUMBER
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.content.memories import COLUMNS, from_row
from recollectum.storage.tables.parameters import check_compared
from recollectum.storage.times import micros

_EVERY_KIND = tuple(Kind)
#: Sorts after every character that a key may have.
_AFTER_KEYS = "\x7f"
#: So many keys of a prefix are sorted; more are found by walking from the newest memory.
_SORTED_KEYS = 50_000

# This and policy.lifecycle.state_at decide what a reader sees; a test checks that they agree.
_EXPIRES = "(expires_at IS NULL OR expires_at > :now)"
_RETAINED = "(retention_expires_at IS NULL OR retention_expires_at > :policy_now)"
_GRACE = "(hard_delete_at IS NULL OR hard_delete_at > :policy_now)"
#: The rows stored in a state that a reader still sees in it.
_STAYS = {
    State.ACTIVE: f"{_EXPIRES} AND {_RETAINED} AND (archive_at IS NULL OR archive_at > :policy_now)",
    State.ARCHIVED: f"{_EXPIRES} AND {_RETAINED}",
    State.SOFT_DELETED: _GRACE,
}
#: The rows that a reader sees in a state although no sweep has moved them there yet.
_DUE = {
    State.ARCHIVED: f"state = 'active' AND archive_at <= :policy_now AND {_EXPIRES} AND {_RETAINED}",
    State.SOFT_DELETED: f"""state IN ('active', 'archived') AND {_GRACE}
          AND (expires_at <= :now OR retention_expires_at <= :policy_now)""",
}
_AGENTS = "superseded_by IS NULL AND coalesce(agent, '') IN (SELECT value FROM names(:agents))"
_KEY = "key >= :prefix AND key < :beyond"
# One part for each value of the index, so that each part is read in order and stops at the limit.
_PART = """
    SELECT number FROM (
        SELECT number FROM memories
         WHERE state = '{state}' AND kind = '{kind}' AND no_contacts {contacts} AND number < :before AND {stays}
         ORDER BY number DESC LIMIT :limit) AS part{place}
"""
# The sums keep SQLite from walking all rows in their order instead of those that are due.
_OVERDUE = """
    SELECT number + 0 FROM memories WHERE due_at <= :now AND {due} AND kind IN ({kinds}) AND number + 0 < :before
"""
_NEWEST = """
    SELECT {columns} FROM memories
     WHERE number IN (SELECT number FROM ({parts}) AS found ORDER BY number DESC LIMIT :limit)
     ORDER BY number DESC
"""
# Most memories are active, so a page is mostly among the newest rows. This statement compiles in a tenth of the time
# of the one above, which the first page of a connection waits for.
RECENT = f"""
    SELECT {COLUMNS} FROM memories
     WHERE number < :before AND number > (SELECT max(number) FROM memories WHERE number < :before) - :walked
       AND state = 'active' AND {_STAYS[State.ACTIVE]}
     ORDER BY number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)
_LATEST = "SELECT coalesce(max(number), 0) FROM memories WHERE number < :before"
#: For each row of a page so many are looked at, before the index is asked.
_WALK = 4
# The state is a literal: the index of keys holds active memories only.
_OF_KEYS = f"""
    SELECT {COLUMNS} FROM memories
     WHERE {_KEY} AND state = 'active' AND {_STAYS[State.ACTIVE]} AND number < :before
       AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
     ORDER BY number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)
_COUNT_KEYS = f"SELECT 1 FROM memories WHERE {_KEY} AND state = 'active' LIMIT :most"  # noqa: S608
# For an engine that cannot look into a key: all keys, and then those of the memories whose keys fit.
_KEYED = """
    SELECT number, key FROM memories
     WHERE state = 'active' AND key IS NOT NULL AND number < :before ORDER BY number DESC
"""
_OF_NUMBERS = f"""
    SELECT {COLUMNS} FROM memories
     WHERE number IN (SELECT value FROM numbers(:numbers)) AND state = 'active' AND {_STAYS[State.ACTIVE]}
       AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
     ORDER BY number DESC LIMIT :limit
"""  # noqa: S608
_BATCH = 1_000
# The row of a cursor, or the next older one when that memory is destroyed.
_PLACE = "SELECT number, id FROM memories WHERE id <= :id ORDER BY id DESC LIMIT 1"
_ABOUT_PEOPLE = f"""
    SELECT {COLUMNS} FROM memories
     WHERE state = 'active' AND kind IN ({", ".join(f"'{kind}'" for kind in _EVERY_KIND)}) AND no_contacts IS NULL
     ORDER BY number
"""  # noqa: S608
_MARK = """
    UPDATE memories SET no_contacts = 1
      FROM triples(:read) AS one WHERE memories.number = one.first AND memories.version = one.second
"""


def page(
    tx: Tx,
    state: State,
    reading: ClockReading,
    *,
    limit: int,
    kind: Kind | None = None,
    cursor: str | None = None,
    key_prefix: str | None = None,
) -> list[Memory]:
    """Return the newest memories that a reader sees in a state: active, archived or soft-deleted.

    The cursor is the id of a memory: those added before it are returned. With a prefix, return only active memories
    whose key begins with it.
    """
    values = _values(tx, reading, cursor, limit)
    kinds = _EVERY_KIND if kind is None else (kind,)
    if key_prefix is None:
        recent = _recent(tx, limit, values) if state is State.ACTIVE and kind is None else None
        return _load(tx, newest(state, kinds), values) if recent is None else recent
    check_compared(key_prefix)
    if not tx.reads_texts:
        return _of_prefix(tx, key_prefix, kind, limit, values)
    bounds = {"prefix": key_prefix, "beyond": key_prefix + _AFTER_KEYS}
    if len(tx.rows(_COUNT_KEYS, {**bounds, "most": _SORTED_KEYS})) < _SORTED_KEYS:
        return _load(tx, _OF_KEYS, {**values, **bounds, "kind": kind})
    return _load(tx, newest(State.ACTIVE, kinds, _KEY), {**values, **bounds})


def page_of_agents(
    tx: Tx, reading: ClockReading, agents: Iterable[str | None], kinds: tuple[Kind, ...], cursor: str | None, limit: int
) -> list[Memory]:
    """Return the newest active memories of some kinds that belong to some agents; None is what all agents share."""
    listed = json.dumps([agent or "" for agent in agents])
    return _load(tx, newest(State.ACTIVE, kinds, _AGENTS), {**_values(tx, reading, cursor, limit), "agents": listed})


@cache
def newest(state: State, kinds: tuple[Kind, ...], also: str = "") -> str:
    """Return the statement that finds the newest memories in a state, of some kinds."""
    stays = f"{_STAYS[state]} AND {also}" if also else _STAYS[state]
    places = [(kind, contacts) for kind in kinds for contacts in ("IS NULL", "= 1")]
    parts = [
        _PART.format(state=state, kind=kind, contacts=contacts, stays=stays, place=place)
        for place, (kind, contacts) in enumerate(places)
    ]
    if state in _DUE:
        listed = ", ".join(f"'{kind}'" for kind in kinds)
        parts.append(_OVERDUE.format(due=_DUE[state], kinds=listed))
    return _NEWEST.format(columns=COLUMNS, parts=" UNION ALL ".join(parts))


def about_people(tx: Tx) -> list[tuple[int, Memory]]:
    """Return the active memories that may tell of contacts, with their row numbers, oldest first."""
    return [(row[0], from_row(row)) for row in tx.rows(_ABOUT_PEOPLE, {})]


def mark_without_contacts(tx: Tx, read: Iterable[tuple[int, int]]) -> None:
    """Record that memories, given by row number and version, tell of no contact; one that changed since is left."""
    tx.run(_MARK, {"read": json.dumps([(number, version, 0) for number, version in read])})


def _recent(tx: Tx, limit: int, values: Params) -> list[Memory] | None:
    """Return a page of active memories from the newest rows; None when older rows may belong to it."""
    walked = min(_WALK * limit, LAST_NUMBER)
    found = _load(tx, RECENT, {**values, "walked": walked})
    if len(found) < limit and tx.rows(_LATEST, {"before": values["before"]})[0][0] > walked:
        return None
    return found


def _of_prefix(tx: Tx, prefix: str, kind: Kind | None, limit: int, values: Params) -> list[Memory]:
    """Return a page of active memories by the keys of all of them, one batch after the other."""
    rows = tx.rows(_KEYED, {"before": values["before"]})
    numbers = [number for number, key in rows if key.startswith(prefix)]
    found: list[Memory] = []
    times = {"now": values["now"], "policy_now": values["policy_now"]}
    while numbers and len(found) < limit:
        batch, numbers = numbers[:_BATCH], numbers[_BATCH:]
        wanted = {"numbers": json.dumps(batch), "kind": kind, "limit": limit - len(found)}
        found += _load(tx, _OF_NUMBERS, {**times, **wanted})
    return found


def _load(tx: Tx, sql: str, values: Params) -> list[Memory]:
    return [from_row(row) for row in tx.rows(sql, values)]


def _values(tx: Tx, reading: ClockReading, cursor: str | None, limit: int) -> Params:
    return {
        "before": _before(tx, cursor),
        "limit": limit,
        "now": micros(reading.now),
        "policy_now": micros(reading.policy_now),
    }


def _before(tx: Tx, cursor: str | None) -> int:
    if cursor is None:
        return LAST_NUMBER
    rows = tx.rows(_PLACE, {"id": cursor})
    if not rows:
        return 0
    number, found = rows[0]
    return number if found == cursor else number + 1
