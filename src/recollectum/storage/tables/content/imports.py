"""Reads and writes the imports table: the messages that each import added."""

from datetime import datetime

from recollectum.domain.page import number_of
from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

_LAST = "SELECT coalesce(max(number), 0) FROM messages"
_ADD = """
    INSERT INTO imports (id, session_id, first, last, by, at) VALUES (:id, :session_id, :first, :last, :by, :at)
    ON CONFLICT DO NOTHING
"""
_PAGE = """
    SELECT imports.id, min(imports.at), imports.by, count(DISTINCT imports.session_id), count(messages.number)
      FROM imports LEFT JOIN messages ON messages.session_id = imports.session_id
       AND messages.number BETWEEN imports.first AND imports.last
     GROUP BY imports.id, imports.by
    HAVING CAST(:at AS BIGINT) IS NULL OR min(imports.at) < :at OR (min(imports.at) = :at AND imports.id < :id)
     ORDER BY 2 DESC, 1 DESC LIMIT :limit
"""
_MESSAGES = """
    SELECT messages.id FROM imports JOIN messages ON messages.session_id = imports.session_id
       AND messages.number BETWEEN imports.first AND imports.last WHERE imports.id = :id
"""
_IS_THERE = "SELECT 1 WHERE EXISTS (SELECT 1 FROM imports WHERE id = :id)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import of conversations: counts, no content."""

    id: str
    at: datetime
    by: str
    sessions: int
    messages: int


def last_number(tx: Tx) -> int:
    """Return the number of the newest message; 0 when there is none."""
    return tx.rows(_LAST, {})[0][0]


def add(tx: Tx, import_id: str, session_id: str, after: int, by: str, at: datetime) -> None:
    """Record that an import added the messages of a session after a number."""
    params = {"id": import_id, "session_id": session_id, "first": after + 1, "last": last_number(tx)}
    tx.run(_ADD, {**params, "by": by, "at": micros(at)})


def page(tx: Tx, *, cursor: str | None, limit: int) -> list[Import]:
    """Return the newest imports after a cursor that still have messages."""
    at, _, id_ = (cursor or "").partition(" ")
    params = {"at": number_of(at) if cursor else None, "id": id_, "limit": limit}
    return [
        Import(id=row[0], at=moment(row[1]), by=row[2], sessions=row[3], messages=row[4])
        for row in tx.rows(_PAGE, params)
    ]


def cursor_of(one: Import) -> str:
    """Return the place of an import in the list: its time and its id, because a caller may choose any id."""
    return f"{micros(one.at)} {one.id}"


def messages_of(tx: Tx, import_id: str) -> set[str] | None:
    """Return the remaining messages that an import added; None when there is no such import."""
    found = {row[0] for row in tx.rows(_MESSAGES, {"id": import_id})}
    return found if found or tx.rows(_IS_THERE, {"id": import_id}) else None
