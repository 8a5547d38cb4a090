"""Reads and writes the projects tables: the names of projects, their roots, and how much belongs to each."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime

from recollectum.domain.files.project import Project, ProjectCounts, ProjectRoot
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none

_ROOTS = """
    SELECT projects.id, projects.name, projects.root_id, projects.added_at,
           project_roots.id, project_roots.root, project_roots.added_at
      FROM projects INNER JOIN project_roots ON project_roots.project = projects.id
"""
_ANY = "SELECT 1 FROM projects LIMIT 1"
_ADD = "INSERT INTO projects (id, name, root_id, added_at) VALUES (:id, :name, :id, :at)"
_ADD_ROOT = "INSERT INTO project_roots (id, project, root, added_at) VALUES (:id, :project, :root, :at)"
_MOVE_ROOT = "UPDATE project_roots SET project = :project, root = :root WHERE id = :id"
_RENAME = "UPDATE projects SET name = :name WHERE id = :id"
_SET_ROOT = "UPDATE projects SET root_id = :root_id WHERE id = :id"
_DELETE = "DELETE FROM projects WHERE id = :id"
_MEMORIES = """
    SELECT count(*), max(updated_at) FROM memories
     WHERE project IN (SELECT value FROM names(:ids)) AND state IN ('active', 'archived')
"""
_MEMORY_IDS = "SELECT id FROM memories WHERE project IN (SELECT value FROM names(:ids)) ORDER BY number"
_SESSIONS = "SELECT id, project FROM sessions WHERE project IS NOT NULL"
_SAID = """
    SELECT count(*), coalesce(sum(message_count), 0), max(updated_at) FROM sessions
     WHERE id IN (SELECT value FROM texts(:sessions))
"""
_CHECKPOINTS = "SELECT count(*) FROM checkpoints WHERE session_id IN (SELECT value FROM texts(:sessions))"


def everything(tx: Tx) -> list[Project]:
    """Return all projects, also forgotten ones, by id."""
    found: dict[str, list[Row]] = {}
    for row in tx.rows(_ROOTS, {}):
        found.setdefault(row[0], []).append(row)
    return [_from_rows(found[one]) for one in sorted(found)]


def any_registered(tx: Tx) -> bool:
    """Return whether the vault knows any project."""
    return bool(tx.rows(_ANY, {}))


def add(tx: Tx, project_id: str, name: str, root: str, at: datetime) -> None:
    """Add a project with its first root."""
    tx.run(_ADD, {"id": project_id, "name": name, "at": micros(at)})
    tx.run(_ADD_ROOT, {"id": project_id, "project": project_id, "root": root, "at": micros(at)})


def rename(tx: Tx, project_id: str, name: str | None) -> None:
    """Give a project another name, or none."""
    tx.run(_RENAME, {"id": project_id, "name": name})


def add_root(tx: Tx, project_id: str, root_id: str, root: str, at: datetime) -> None:
    """Make another root the present one of a project; it may have belonged to another project."""
    params = {"id": root_id, "project": project_id, "root": root}
    if not tx.run(_MOVE_ROOT, params):
        tx.run(_ADD_ROOT, {**params, "at": micros(at)})
    tx.run(_SET_ROOT, {"id": project_id, "root_id": root_id})


def delete(tx: Tx, project_id: str) -> None:
    """Delete a project and its roots; what belongs to it stays."""
    tx.run(_DELETE, {"id": project_id})


def memory_ids(tx: Tx, ids: Sequence[str]) -> list[str]:
    """Return the memories that were saved with roots of these ids, in any state, oldest first."""
    return [row[0] for row in tx.rows(_MEMORY_IDS, {"ids": json.dumps(list(ids))})]


def sessions_by_project(tx: Tx) -> list[tuple[str, str]]:
    """Return the id of each session that belongs to a project, and the id of that root."""
    # Compared by the caller: an engine that encrypts values cannot compare this column.
    return [(row[0], row[1]) for row in tx.rows(_SESSIONS, {})]


def sessions_of(tx: Tx, ids: Collection[str]) -> list[str]:
    """Return the sessions that belong to roots of these ids, oldest first."""
    wanted = frozenset(ids)
    return sorted(session for session, project in sessions_by_project(tx) if project in wanted) if wanted else []


def counts(tx: Tx, ids: Sequence[str], sessions: Sequence[str]) -> ProjectCounts:
    """Return how much belongs to a project with these root ids and sessions."""
    listed = json.dumps(list(sessions))
    kept, changed = tx.rows(_MEMORIES, {"ids": json.dumps(list(ids))})[0]
    talks, said, spoken = tx.rows(_SAID, {"sessions": listed})[0]
    times = [one for one in (changed, spoken) if one is not None]
    return ProjectCounts(
        memories=kept,
        sessions=talks,
        messages=int(said),
        checkpoints=tx.rows(_CHECKPOINTS, {"sessions": listed})[0][0],
        latest=moment_or_none(max(times, default=None)),
    )


def _from_rows(rows: Sequence[Row]) -> Project:
    roots = sorted((ProjectRoot(id=row[4], root=row[5], added_at=moment(row[6])) for row in rows), key=_by_time)
    project_id, name, root_id, added_at = rows[0][:4]
    present = next((one.root for one in roots if one.id == root_id), roots[-1].root)
    return Project(id=project_id, name=name, root=present, added_at=moment(added_at), roots=tuple(roots))


def _by_time(one: ProjectRoot) -> tuple[datetime, str]:
    return one.added_at, one.id
