"""Reads and writes the transcript tables: followed folders and the read offset of each file."""

from datetime import datetime

from recollectum.domain.files.transcript import FollowedPath, TranscriptFile
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_ADD_ROOT = """
    INSERT INTO transcript_roots (path, agent, channel, added_at)
    SELECT :path, :agent, :channel, :at WHERE NOT EXISTS (SELECT 1 FROM transcript_roots WHERE path = :path)
"""
_REMOVE_ROOT = "DELETE FROM transcript_roots WHERE number = :number"
_ROOTS = """
    SELECT number, path, agent, channel, added_at, coalesce(files, 0)
      FROM transcript_roots
      LEFT JOIN (SELECT root, count(*) AS files FROM transcript_files GROUP BY root) AS counted ON root = number
"""
_COLUMNS = "path, root, identity, size, mtime, read_to, lines, head, tail, form, session_id"
_OF_ROOT = f"SELECT {_COLUMNS} FROM transcript_files WHERE root = :root"  # noqa: S608  (constants of this file)
_FIND = f"SELECT {_COLUMNS} FROM transcript_files WHERE path = :path"  # noqa: S608
_SAVE = f"""
    INSERT INTO transcript_files ({_COLUMNS}, synced_at)
    VALUES (:path, :root, :identity, :size, :mtime, :read_to, :lines, :head, :tail, :form, :session_id, :at)
    ON CONFLICT (path) DO UPDATE
       SET root = excluded.root, identity = excluded.identity, size = excluded.size, mtime = excluded.mtime,
           read_to = excluded.read_to, lines = excluded.lines, head = excluded.head, tail = excluded.tail,
           form = excluded.form, session_id = excluded.session_id, synced_at = excluded.synced_at
"""  # noqa: S608


def add_root(tx: Tx, path: str, *, agent: str | None, channel: str | None, at: datetime) -> bool:
    """Follow a path; return False when it is followed already."""
    return bool(tx.run(_ADD_ROOT, {"path": path, "agent": agent, "channel": channel, "at": micros(at)}))


def remove_root(tx: Tx, number: int) -> bool:
    """Stop following a path, and delete the read offsets of its files."""
    return bool(tx.run(_REMOVE_ROOT, {"number": number}))


def roots(tx: Tx) -> list[FollowedPath]:
    """Return the followed paths, in order."""
    return [
        FollowedPath(number=row[0], path=row[1], agent=row[2], channel=row[3], added_at=moment(row[4]), files=row[5])
        for row in sorted(tx.rows(_ROOTS, {}), key=lambda row: row[1])
    ]


def of_root(tx: Tx, root: int) -> dict[str, TranscriptFile]:
    """Return the known files under a followed path, by path."""
    return {row[0]: _from_row(row) for row in tx.rows(_OF_ROOT, {"root": root})}


def find(tx: Tx, path: str) -> TranscriptFile | None:
    """Return the file with that path, or None."""
    rows = tx.rows(_FIND, {"path": path})
    return _from_row(rows[0]) if rows else None


def save(tx: Tx, file: TranscriptFile, at: datetime) -> None:
    """Store the read offset of a file."""
    tx.run(
        _SAVE,
        {
            "path": file.path,
            "root": file.root,
            "identity": file.identity,
            "size": file.size,
            "mtime": file.mtime,
            "read_to": file.read_to,
            "lines": file.lines,
            "head": file.head,
            "tail": file.tail,
            "form": file.form,
            "session_id": file.session_id,
            "at": micros(at),
        },
    )


def _from_row(row: Row) -> TranscriptFile:
    return TranscriptFile(
        path=row[0],
        root=row[1],
        identity=row[2],
        size=row[3],
        mtime=row[4],
        read_to=row[5],
        lines=row[6],
        head=row[7],
        tail=row[8],
        form=row[9],
        session_id=row[10],
    )
