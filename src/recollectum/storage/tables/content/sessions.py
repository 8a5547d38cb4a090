"""Reads and writes the sessions table: conversations, and the open one of each key."""

import json
from datetime import datetime
from functools import lru_cache

from recollectum.domain.page import AFTER_IDS
from recollectum.domain.session import Session, SessionKey, SessionKind, name_agent
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.tables.parameters import check_compared
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

_COLUMNS = """id, key, created_at, updated_at, ended_at, title, summary, project, imported,
    message_count, token_estimate, extra"""
_INSERT = f"""
    INSERT INTO sessions ({_COLUMNS})
    VALUES (:id, :key, :created_at, :updated_at, :ended_at, :title, :summary, :project, :imported,
        :message_count, :token_estimate, :extra)
"""  # noqa: S608  (constants of this file)
_BY_ID = f"SELECT {_COLUMNS} FROM sessions WHERE id = :id"  # noqa: S608
_OPEN = f"SELECT {_COLUMNS} FROM sessions WHERE key = :key AND ended_at IS NULL AND imported = 0"  # noqa: S608
# Sessions of a reverted import in which nothing else was said since.
_TAKEN_BACK = """
    EXISTS (SELECT 1 FROM messages WHERE session_id = {id}) AND NOT EXISTS (
        SELECT 1 FROM messages WHERE session_id = {id} AND NOT EXISTS (
            SELECT 1 FROM quarantined JOIN quarantines ON quarantines.id = quarantined.quarantine_id
             WHERE quarantined.item = messages.id AND quarantines.went = 'soft_deleted'))
"""
_PAGE = f"""
    SELECT {_COLUMNS} FROM sessions
     WHERE id < :before AND NOT ({_TAKEN_BACK.format(id="sessions.id")})
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
# For a prefix that many keys have: from the newest session on.
_PAGE_OF_PREFIX = f"""
    SELECT {_COLUMNS} FROM sessions
     WHERE id < :before AND key >= :prefix AND substr(key, 1, length(:prefix)) = :prefix
       AND NOT ({_TAKEN_BACK.format(id="sessions.id")})
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
# For a prefix that few keys have: by the index of keys, and then sorted.
_FEW_OF_PREFIX = f"""
    SELECT {_COLUMNS} FROM sessions
     WHERE id IN (SELECT id FROM sessions WHERE key >= :prefix AND key < :beyond) AND id < :before
       AND NOT ({_TAKEN_BACK.format(id="sessions.id")})
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_COUNT_OF_PREFIX = "SELECT 1 FROM sessions WHERE key >= :prefix AND key < :beyond LIMIT :most"
#: So many sessions of a prefix are sorted.
_SORTED = 2_000
_LAST_CHARACTER = chr(0x10FFFF)
# For an engine that cannot look into a key: these of the sessions.
_PAGE_OF_IDS = f"""
    SELECT {_COLUMNS} FROM sessions
     WHERE id IN (SELECT value FROM texts(:ids)) AND NOT ({_TAKEN_BACK.format(id="sessions.id")})
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_HOOK = "hook:"
_KEYS_WITH_TIMES = "SELECT id, key, updated_at FROM sessions"
_IS_TAKEN_BACK = f"SELECT {_TAKEN_BACK.format(id=':id')}"
_GREW = """
    UPDATE sessions
       SET message_count = message_count + :messages, token_estimate = token_estimate + :tokens,
           updated_at = CASE WHEN updated_at < :at THEN :at ELSE updated_at END
     WHERE id = :id
    RETURNING message_count
"""
_DESCRIBE = """
    UPDATE sessions SET title = :title, summary = :summary, ended_at = :ended_at, updated_at = :updated_at
     WHERE id = :id
"""
_SHRINK = "UPDATE sessions SET token_estimate = token_estimate - :tokens WHERE id = :id"
_DELETE = "DELETE FROM sessions WHERE id = :id"
# Hook sessions older than the age limit, and the oldest of those above the count limit.
_STALE_HOOKS = """
    SELECT id FROM sessions
     WHERE key >= 'hook:' AND key < 'hook;'
       AND (updated_at < :oldest OR id NOT IN (
            SELECT id FROM sessions WHERE key >= 'hook:' AND key < 'hook;'
             ORDER BY updated_at DESC, id DESC LIMIT :most))
"""
_COUNT = "SELECT count(*), coalesce(sum(message_count), 0) FROM sessions"
_KEYS = "SELECT id, key FROM sessions"
#: Keys kept in the cache.
_CACHED_KEYS = 16_384
# Messages whose session was lost to damage.
_ORPHANS = """
    SELECT session_id, min(created_at), max(created_at), max(position), sum(token_estimate)
      FROM messages WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id
"""
_RECOVERED = "recovered from a damaged vault"


def insert(tx: Tx, session: Session) -> None:
    """Add a session."""
    tx.run(_INSERT, _to_row(session))


def find(tx: Tx, session_id: str) -> Session | None:
    """Return the session with that id, or None."""
    return _first(tx.rows(_BY_ID, {"id": session_id}))


def find_open(tx: Tx, key: SessionKey) -> Session | None:
    """Return the session to resume under a key."""
    return _first(tx.rows(_OPEN, {"key": str(key)}))


def page(tx: Tx, *, before: str | None, prefix: str | None, limit: int) -> list[Session]:
    """Return the newest sessions before an id whose key begins with `prefix`, without those of a reverted import."""
    values = {"before": before or AFTER_IDS, "limit": limit}
    if prefix is None:
        return [_from_row(row) for row in tx.rows(_PAGE, values)]
    check_compared(prefix)
    if not tx.reads_texts:
        return _page_of_prefix(tx, before or AFTER_IDS, prefix, limit)
    bounds = {"prefix": prefix, "beyond": prefix + _LAST_CHARACTER}
    many = len(tx.rows(_COUNT_OF_PREFIX, {**bounds, "most": _SORTED})) == _SORTED
    if many:
        return [_from_row(row) for row in tx.rows(_PAGE_OF_PREFIX, {**values, "prefix": prefix})]
    return [_from_row(row) for row in tx.rows(_FEW_OF_PREFIX, {**values, **bounds})]


def _page_of_prefix(tx: Tx, before: str, prefix: str, limit: int) -> list[Session]:
    """Return a page by the keys of all sessions, read one batch of sessions after the other."""
    ids = sorted((one for one, key in tx.rows(_KEYS, {}) if key.startswith(prefix) and one < before), reverse=True)
    found: list[Session] = []
    while ids and len(found) < limit:
        batch, ids = ids[:_SORTED], ids[_SORTED:]
        rows = tx.rows(_PAGE_OF_IDS, {"ids": json.dumps(batch), "limit": limit - len(found)})
        found += map(_from_row, rows)
    return found


def is_taken_back(tx: Tx, session_id: str) -> bool:
    """Return whether all of a session came from an import that was reverted."""
    return bool(tx.rows(_IS_TAKEN_BACK, {"id": session_id})[0][0])


def grow(tx: Tx, session_id: str, *, messages: int, tokens: int, at: datetime) -> int | None:
    """Add new messages to the count; return the new count, or None when there is no such session."""
    rows = tx.rows(_GREW, {"id": session_id, "messages": messages, "tokens": tokens, "at": micros(at)})
    return rows[0][0] if rows else None


def shrink(tx: Tx, session_id: str, tokens: int) -> None:
    """Take the tokens of removed words out of the estimate of a session."""
    tx.run(_SHRINK, {"id": session_id, "tokens": tokens})


def describe(tx: Tx, session: Session) -> None:
    """Store the fields of a session that may change: its title, summary and end."""
    row = _to_row(session)
    tx.run(_DESCRIBE, {name: row[name] for name in ("id", "title", "summary", "ended_at", "updated_at")})


def delete(tx: Tx, session_id: str) -> bool:
    """Delete a session and its messages."""
    return tx.run(_DELETE, {"id": session_id}) == 1


def stale_hooks(tx: Tx, *, oldest: datetime, most: int) -> list[str]:
    """Return the hook sessions that are too old, or too many."""
    if tx.reads_texts:
        return [row[0] for row in tx.rows(_STALE_HOOKS, {"oldest": micros(oldest), "most": most})]
    rows = tx.rows(_KEYS_WITH_TIMES, {})
    newest = sorted(((at, one) for one, key, at in rows if key.startswith(_HOOK)), reverse=True)
    return [one for place, (at, one) in enumerate(newest) if place >= most or at < micros(oldest)]


def totals(tx: Tx) -> tuple[int, int]:
    """Return the number of sessions, and the number of messages in all of them."""
    sessions, messages = tx.rows(_COUNT, {})[0]
    return sessions, messages


def at_place(tx: Tx, agent: str | None, channel: str | None) -> list[str]:
    """Return the ids of the sessions of an agent, by any of its names, on a channel."""
    found = ((row[0], *_agent_and_channel(row[1])) for row in tx.rows(_KEYS, {}))
    named = agent if agent is None else name_agent(agent)
    return [one for one, of, at in found if named in (None, name_agent(of)) and channel in (None, at)]


def _first(rows: list[Row]) -> Session | None:
    return _from_row(rows[0]) if rows else None


def _from_row(row: Row) -> Session:
    return Session(
        id=row[0],
        key=SessionKey.parse(row[1]),
        created_at=moment(row[2]),
        updated_at=moment(row[3]),
        ended_at=moment_or_none(row[4]),
        title=row[5],
        summary=row[6],
        project=row[7],
        imported=bool(row[8]),
        message_count=row[9],
        token_estimate=row[10],
        extra=json.loads(row[11]) if row[11] else {},
    )


def add_missing(tx: Tx) -> int:
    """Create a closed session for messages that have none, for a repair; return how many were created."""
    orphans = tx.rows(_ORPHANS, {})
    for session_id, first, last, position, tokens in orphans:
        insert(
            tx,
            Session(
                id=session_id,
                # Where it took place is lost as well; no channel opens a session under this key.
                key=SessionKey(kind=SessionKind.HOOK, name="recovered"),
                created_at=moment(first),
                updated_at=moment(last),
                ended_at=moment(last),
                title=_RECOVERED,
                message_count=position,
                token_estimate=tokens,
            ),
        )
    return len(orphans)


def _to_row(session: Session) -> Params:
    return {
        "id": session.id,
        "key": str(session.key),
        "created_at": micros(session.created_at),
        "updated_at": micros(session.updated_at),
        "ended_at": micros_or_none(session.ended_at),
        "title": session.title,
        "summary": session.summary,
        "project": session.project,
        "imported": int(session.imported),
        "message_count": session.message_count,
        "token_estimate": session.token_estimate,
        "extra": json.dumps(session.extra) if session.extra else None,
    }


@lru_cache(maxsize=_CACHED_KEYS)
def _agent_and_channel(key: str) -> tuple[str, str]:
    """Return the agent and the channel of a session key; cached, because parsing a key is the slowest part."""
    parsed = SessionKey.parse(key)
    return parsed.agent, parsed.channel
