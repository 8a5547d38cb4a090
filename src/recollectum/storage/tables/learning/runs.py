"""Reads and writes the runs table: consolidation runs and the effects that can revert them."""

from datetime import datetime

from recollectum.domain.page import AFTER_IDS
from recollectum.domain.proposal import Act
from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

_COLUMNS = """id, session_id, from_position, through_position, by, added, updated, superseded, renewed, proposed,
    ignored, at, reverted_at"""
_ADD = f"""
    INSERT INTO runs ({_COLUMNS})
    VALUES (:id, :session_id, :from_position, :through_position, :by, :added, :updated, :superseded, :renewed,
        :proposed, :ignored, :at, :reverted_at)
"""  # noqa: S608  (constants of this file)
_EFFECT = """
    INSERT INTO run_effects (run_id, number, act, memory_id, version, target_id)
    VALUES (:run_id, :number, :act, :memory_id, :version, :target_id)
"""
_EFFECTS = "SELECT act, memory_id, version, target_id FROM run_effects WHERE run_id = :run_id ORDER BY number"
_BY_ID = f"SELECT {_COLUMNS} FROM runs WHERE id = :id"  # noqa: S608
_PAGE = f"""
    SELECT {_COLUMNS} FROM runs
     WHERE id < :before ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_PAGE_OF_SESSION = f"""
    SELECT {_COLUMNS} FROM runs
     WHERE session_id = :session_id AND id < :before ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_READ_TO = "SELECT coalesce(max(through_position), 0) FROM runs WHERE session_id = :session_id"
_REVERTED = "UPDATE runs SET reverted_at = :at WHERE id = :id AND reverted_at IS NULL"
# Conversations with messages that no run has read.
_UNREAD = """
    SELECT id, message_count FROM sessions
     WHERE imported <= :imported AND updated_at <= :until AND message_count > 0
       AND message_count > coalesce((SELECT max(through_position) FROM runs WHERE session_id = sessions.id), 0)
     ORDER BY updated_at, id
"""
# Idle conversations without unread messages.
_SPENT = """
    SELECT id FROM sessions
     WHERE imported = 0 AND ended_at IS NULL AND updated_at <= :until AND message_count > 0
       AND message_count <= (SELECT max(through_position) FROM runs WHERE session_id = sessions.id)
     ORDER BY id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """One run over a conversation: the part it read, the model, and the counts of its results."""

    id: str
    session_id: str
    #: It read the messages after the first position, up to and including the second.
    from_position: int
    through_position: int
    #: The name of a model, or `rules`.
    by: str
    added: int = 0
    updated: int = 0
    superseded: int = 0
    #: Known facts that were said again.
    renewed: int = 0
    #: Findings added to the review inbox.
    proposed: int = 0
    #: Findings that were not learned.
    ignored: int = 0
    at: datetime
    reverted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One change that a run made to one memory."""

    act: Act
    memory_id: str
    #: The version that the change made.
    version: int
    #: The memory that it superseded.
    target_id: str | None = None


def add(tx: Tx, run: ConsolidationRun, effects: list[Effect]) -> None:
    """Store a run and its effects."""
    tx.run(
        _ADD,
        {
            "id": run.id,
            "session_id": run.session_id,
            "from_position": run.from_position,
            "through_position": run.through_position,
            "by": run.by,
            "added": run.added,
            "updated": run.updated,
            "superseded": run.superseded,
            "renewed": run.renewed,
            "proposed": run.proposed,
            "ignored": run.ignored,
            "at": micros(run.at),
            "reverted_at": micros_or_none(run.reverted_at),
        },
    )
    for number, one in enumerate(effects):
        place = {"run_id": run.id, "number": number, "act": one.act.value}
        tx.run(_EFFECT, {**place, "memory_id": one.memory_id, "version": one.version, "target_id": one.target_id})


def find(tx: Tx, run_id: str) -> ConsolidationRun | None:
    """Return the run with that id, or None."""
    rows = tx.rows(_BY_ID, {"id": run_id})
    return _from_row(rows[0]) if rows else None


def page(tx: Tx, *, session_id: str | None, before: str | None, limit: int) -> list[ConsolidationRun]:
    """Return the newest runs before an id, of one session or of all."""
    values = {"before": before or AFTER_IDS, "limit": limit}
    if session_id is None:
        return [_from_row(row) for row in tx.rows(_PAGE, values)]
    return [_from_row(row) for row in tx.rows(_PAGE_OF_SESSION, {**values, "session_id": session_id})]


def effects(tx: Tx, run_id: str) -> list[Effect]:
    """Return the changes that a run made to memories, in order."""
    rows = tx.rows(_EFFECTS, {"run_id": run_id})
    return [Effect(act=Act(row[0]), memory_id=row[1], version=row[2], target_id=row[3]) for row in rows]


def read_to(tx: Tx, session_id: str) -> int:
    """Return the last position that was read of a conversation; 0 when nothing was."""
    return tx.rows(_READ_TO, {"session_id": session_id})[0][0]


def mark_reverted(tx: Tx, run_id: str, at: datetime) -> bool:
    """Record that a run was reverted; return False when it was reverted before."""
    return tx.run(_REVERTED, {"id": run_id, "at": micros(at)}) == 1


def unread(tx: Tx, *, until: datetime, imported: bool) -> list[tuple[str, int]]:
    """Return the sessions idle since a time with unread messages, each with its last position, longest idle first."""
    return [(row[0], row[1]) for row in tx.rows(_UNREAD, {"until": micros(until), "imported": int(imported)})]


def spent(tx: Tx, until: datetime) -> list[str]:
    """Return the open sessions that are idle since a time and have no unread messages."""
    return [row[0] for row in tx.rows(_SPENT, {"until": micros(until)})]


def _from_row(row: Row) -> ConsolidationRun:
    return ConsolidationRun(
        id=row[0],
        session_id=row[1],
        from_position=row[2],
        through_position=row[3],
        by=row[4],
        added=row[5],
        updated=row[6],
        superseded=row[7],
        renewed=row[8],
        proposed=row[9],
        ignored=row[10],
        at=moment(row[11]),
        reverted_at=moment_or_none(row[12]),
    )
