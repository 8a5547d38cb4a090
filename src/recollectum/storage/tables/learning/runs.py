"""Reads and writes the runs table: consolidation runs and the effects that can revert them."""

from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.proposal import Act
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
     WHERE (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
       AND (CAST(:before AS TEXT) IS NULL OR id < :before)
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_READ_TO = "SELECT coalesce(max(through_position), 0) FROM runs WHERE session_id = :session_id"
_REVERTED = "UPDATE runs SET reverted_at = :at WHERE id = :id AND reverted_at IS NULL"
# Conversations in which something was said that no run has read.
_UNREAD = """
    SELECT id, message_count FROM sessions
     WHERE imported <= :imported AND updated_at <= :until AND message_count > 0
       AND message_count > coalesce((SELECT max(through_position) FROM runs WHERE session_id = sessions.id), 0)
     ORDER BY updated_at, id
"""
# Conversations that rest, and in which nothing is unread.
_SPENT = """
    SELECT id FROM sessions
     WHERE imported = 0 AND ended_at IS NULL AND updated_at <= :until AND message_count > 0
       AND message_count <= (SELECT max(through_position) FROM runs WHERE session_id = sessions.id)
     ORDER BY id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """One reading of a conversation: which part of it, by whom, and how much came of it."""

    id: str
    session_id: str
    #: It read what follows the first position, up to and with the second.
    from_position: int
    through_position: int
    #: A model, or `rules`.
    by: str
    added: int = 0
    updated: int = 0
    superseded: int = 0
    #: Known already, and said again.
    renewed: int = 0
    #: Laid into the review inbox.
    proposed: int = 0
    #: Found, and not to be learned.
    ignored: int = 0
    at: datetime
    reverted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One thing that a run did to one memory."""

    act: Act
    memory_id: str
    #: The version that the effect made.
    version: int
    #: The memory that it put an end to.
    target_id: str | None = None


def add(tx: Tx, run: ConsolidationRun, effects: list[Effect]) -> None:
    """Keep what a run did."""
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
    """The run with that id."""
    rows = tx.rows(_BY_ID, {"id": run_id})
    return _from_row(rows[0]) if rows else None


def page(tx: Tx, *, session_id: str | None, before: str | None, limit: int) -> list[ConsolidationRun]:
    """The newest runs before an id, of one session or of all."""
    return [_from_row(row) for row in tx.rows(_PAGE, {"session_id": session_id, "before": before, "limit": limit})]


def effects(tx: Tx, run_id: str) -> list[Effect]:
    """What a run did to memories, in order."""
    rows = tx.rows(_EFFECTS, {"run_id": run_id})
    return [Effect(act=Act(row[0]), memory_id=row[1], version=row[2], target_id=row[3]) for row in rows]


def read_to(tx: Tx, session_id: str) -> int:
    """The position up to which a conversation has been read; 0 when it has not."""
    return tx.rows(_READ_TO, {"session_id": session_id})[0][0]


def mark_reverted(tx: Tx, run_id: str, at: datetime) -> bool:
    """Note that a run was taken back; False when it was before."""
    return tx.run(_REVERTED, {"id": run_id, "at": micros(at)}) == 1


def unread(tx: Tx, *, until: datetime, imported: bool) -> list[tuple[str, int]]:
    """Sessions that rest since a time and were not read to their end, with their last position, longest first."""
    return [(row[0], row[1]) for row in tx.rows(_UNREAD, {"until": micros(until), "imported": int(imported)})]


def spent(tx: Tx, until: datetime) -> list[str]:
    """Open sessions that rest since a time and were read to their end."""
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
