"""Reads and writes the shell_commands table: the commands that shells ran, by project. Their ids give the order."""

import json
from collections.abc import Collection, Iterator
from datetime import datetime

from recollectum.domain.agent_state.shell_command import ShellCommand
from recollectum.domain.page import AFTER_IDS
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "id, project, command, at"
_ADD = f"INSERT INTO shell_commands ({_COLUMNS}) VALUES (:id, :project, :command, :at)"  # noqa: S608  (constants of this file)
_FIND = f"SELECT {_COLUMNS} FROM shell_commands WHERE id = :id"  # noqa: S608
_PAGE = f"SELECT {_COLUMNS} FROM shell_commands WHERE id < :before ORDER BY id DESC LIMIT :limit"  # noqa: S608
_PAGE_OF = f"""
    SELECT {_COLUMNS} FROM shell_commands WHERE project = :project AND id < :before ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_IDS = "SELECT id FROM shell_commands"
_IDS_OF = "SELECT id FROM shell_commands WHERE project = :project"
_OLD = "SELECT id FROM shell_commands WHERE at < :before"
_COUNT = "SELECT count(*) FROM shell_commands WHERE project = :project"
_OLDEST = f"SELECT {_COLUMNS} FROM shell_commands WHERE project = :project ORDER BY id LIMIT :limit"  # noqa: S608
_DELETE = "DELETE FROM shell_commands WHERE id IN (SELECT value FROM texts(:ids))"
_PAGE_SIZE = 500


def add(tx: Tx, one: ShellCommand) -> None:
    """Store a command."""
    tx.run(_ADD, {"id": one.id, "project": one.project, "command": one.command, "at": micros(one.at)})


def find(tx: Tx, command_id: str) -> ShellCommand | None:
    """Return the command with that id, or None."""
    rows = tx.rows(_FIND, {"id": command_id})
    return _from_row(rows[0]) if rows else None


def newest(tx: Tx, project: str | None, before: str | None = None) -> Iterator[ShellCommand]:
    """Yield the commands of one project or of all, the newest first; only those older than `before`."""
    place = before or AFTER_IDS
    while True:
        given = {"before": place, "limit": _PAGE_SIZE}
        rows = tx.rows(_PAGE, given) if project is None else tx.rows(_PAGE_OF, {**given, "project": project})
        yield from map(_from_row, rows)
        if len(rows) < _PAGE_SIZE:
            return
        place = rows[-1][0]


def ids(tx: Tx, project: str | None) -> set[str]:
    """Return the ids of all commands, or of those of one project."""
    return {row[0] for row in (tx.rows(_IDS, {}) if project is None else tx.rows(_IDS_OF, {"project": project}))}


def older(tx: Tx, before: datetime) -> set[str]:
    """Return the ids of the commands that were run before a time."""
    return {row[0] for row in tx.rows(_OLD, {"before": micros(before)})}


def beyond(tx: Tx, project: str, most: int) -> list[ShellCommand]:
    """Return the oldest commands of a project that are too many."""
    over = tx.rows(_COUNT, {"project": project})[0][0] - most
    return [_from_row(row) for row in tx.rows(_OLDEST, {"project": project, "limit": over})] if over > 0 else []


def delete(tx: Tx, command_ids: Collection[str]) -> int:
    """Delete commands, and return how many there were."""
    return tx.run(_DELETE, {"ids": json.dumps(sorted(command_ids))}) if command_ids else 0


def _from_row(row: Row) -> ShellCommand:
    return ShellCommand(id=row[0], project=row[1], command=row[2], at=moment(row[3]))
