"""Reads and writes the memories before each change, and the events of each undo, which are in meta."""

from collections.abc import Iterable
from dataclasses import replace

from recollectum.domain.event import Event, EventType
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.storage.port import Row, Tx
from recollectum.storage.tables.trail import events, meta
from recollectum.storage.times import moment, moment_or_none

_COLUMNS = """key, kind, importance, trust, author, version, state, updated_at, valid_from, valid_to, supersedes,
    superseded_by, archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at"""
_BEFORE = f"SELECT {_COLUMNS} FROM undo_rows WHERE event = :event AND memory_id = :id"  # noqa: S608  (constants)
# The state before the next change is the state after this one.
_AFTER = f"""
    SELECT {_COLUMNS} FROM undo_rows WHERE memory_id = :id AND event > :event ORDER BY event LIMIT 1
"""  # noqa: S608
_CONTENT = "SELECT content FROM memory_versions WHERE memory_id = :id AND version = :version"
_LAST = "SELECT coalesce(max(number), 0) FROM events"
_ONE = "SELECT subject_id FROM events WHERE number = :number"
#: The name in meta of the undo that wrote an event and those after it; padded, so that names sort by number.
_NAME = "undo:{:019}"
# Two undos never write the same event, so only the last one that began before an event can have written it.
_STEP = "SELECT name, value FROM meta WHERE name >= 'undo:' AND name <= :name ORDER BY name DESC LIMIT 1"
_RUN = """
    SELECT run_effects.run_id FROM run_effects JOIN runs ON runs.id = run_effects.run_id
     WHERE run_effects.memory_id = :id AND run_effects.version = :version AND runs.reverted_at IS NULL
"""
_HOLDS_AGAIN = "UPDATE runs SET reverted_at = NULL WHERE id = :id"
_FROM_SESSION = """
    SELECT id FROM memories WHERE message_id IN (SELECT id FROM messages WHERE session_id = :session_id)
    UNION
    SELECT citations.memory_id FROM citations JOIN messages ON messages.id = citations.message_id
     WHERE messages.session_id = :session_id
"""
_PURGED_SINCE = "SELECT 1 WHERE EXISTS (SELECT 1 FROM events WHERE type = 'purged' AND actor = :actor)"


@dataclass(frozen=True, slots=True)
class Range:
    """The events of one undo, from the first to the last, and the runs that it reverted."""

    first: int
    last: int
    run_ids: tuple[str, ...] = ()


def before(tx: Tx, event: int, now: Memory) -> Memory | None:
    """Return the memory before an event; None when that state was not kept."""
    rows = tx.rows(_BEFORE, {"event": event, "id": now.id})
    return _onto(tx, rows[0], now) if rows else None


def after(tx: Tx, event: int, now: Memory) -> Memory | None:
    """Return the memory after an event."""
    rows = tx.rows(_AFTER, {"event": event, "id": now.id})
    return _onto(tx, rows[0], now) if rows else now


def last_event(tx: Tx) -> int:
    """Return the number of the newest event; 0 when there is none."""
    return tx.rows(_LAST, {})[0][0]


def event(tx: Tx, number: int) -> Event | None:
    """Return the event of that number."""
    return next(iter(events.page(tx, before=number + 1, type=None, limit=1)), None) if _is_there(tx, number) else None


def newest_first(tx: Tx) -> Iterable[Event]:
    """Yield every event, newest first, in pages."""
    before_number: int | None = None
    while found := events.page(tx, before=before_number, type=None, limit=200):
        yield from found
        before_number = found[-1].number


def created(tx: Tx, memory_id: str) -> Event | None:
    """Return the event that created a memory."""
    return next((one for one in events.of(tx, memory_id) if one.type is EventType.CREATED), None)


def step_around(tx: Tx, number: int) -> Range | None:
    """Return the undo that wrote an event, or None."""
    for name, value in tx.rows(_STEP, {"name": _NAME.format(number)}):
        last, *run_ids = value.split()
        if int(last) >= number:
            return Range(int(name.partition(":")[2]), int(last), tuple(run_ids))
    return None


def add_step(tx: Tx, step: Range) -> None:
    """Record the events that an undo wrote."""
    meta.save(tx, _NAME.format(step.first), " ".join((str(step.last), *step.run_ids)))


def run_of(tx: Tx, memory_id: str, version: int) -> str | None:
    """Return the consolidation run, not yet reverted, that made a version of a memory."""
    rows = tx.rows(_RUN, {"id": memory_id, "version": version})
    return rows[0][0] if rows else None


def let_run_hold(tx: Tx, run_id: str) -> None:
    """Record that a reverted run holds again."""
    tx.run(_HOLDS_AGAIN, {"id": run_id})


def from_session(tx: Tx, session_id: str) -> set[str]:
    """Return the memories that came from a conversation."""
    return {row[0] for row in tx.rows(_FROM_SESSION, {"session_id": session_id})}


def ever_destroyed(tx: Tx, actor: str) -> bool:
    """Return whether an actor has purged a memory before."""
    return bool(tx.rows(_PURGED_SINCE, {"actor": actor}))


def _is_there(tx: Tx, number: int) -> bool:
    return bool(tx.rows(_ONE, {"number": number}))


def _onto(tx: Tx, row: Row, now: Memory) -> Memory | None:
    content = now.content
    if row[5] != now.version:
        found = tx.rows(_CONTENT, {"id": now.id, "version": row[5]})
        if not found:
            return None
        content = found[0][0]
    return replace(
        now,
        content=content,
        key=row[0],
        kind=Kind(row[1]),
        importance=row[2],
        trust=Trust(row[3]),
        author=row[4],
        version=row[5],
        state=State(row[6]),
        updated_at=moment(row[7]),
        valid_from=moment_or_none(row[8]),
        valid_to=moment_or_none(row[9]),
        supersedes=row[10],
        superseded_by=row[11],
        archive_at=moment_or_none(row[12]),
        retention_expires_at=moment_or_none(row[13]),
        expires_at=moment_or_none(row[14]),
        deleted_at=moment_or_none(row[15]),
        hard_delete_at=moment_or_none(row[16]),
    )
