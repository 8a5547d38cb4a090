"""Reads and writes the notes tables: followed folders and the last text of each file."""

from collections.abc import Iterable
from datetime import datetime

from recollectum.domain.files.note import Note, NoteFolder
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_ADD_FOLDER = "INSERT INTO note_folders (path, added_at) VALUES (:path, :at) ON CONFLICT DO NOTHING"
_REMOVE_FOLDER = "DELETE FROM note_folders WHERE path = :path"
_FOLDERS = """
    SELECT number, path, added_at, (SELECT count(*) FROM notes WHERE notes.folder = note_folders.path)
      FROM note_folders
"""
_COLUMNS = "number, folder, path, hash, mtime, size, synced_at"
_PAGE = f"SELECT {_COLUMNS} FROM notes WHERE number > :after ORDER BY number LIMIT :limit"  # noqa: S608  (constants)
_OF_FOLDER = f"SELECT {_COLUMNS} FROM notes WHERE folder = :folder"  # noqa: S608
_FIND = f"SELECT {_COLUMNS} FROM notes WHERE folder = :folder AND path = :path"  # noqa: S608
_TEXT = "SELECT text FROM notes WHERE number = :number"
_TEXTS = "SELECT number, path, text FROM notes ORDER BY number"
_FOLLOWING = "SELECT number, path, text FROM notes WHERE number > :number ORDER BY number LIMIT :limit"
_INSERT = """
    INSERT INTO notes (folder, path, hash, mtime, size, text, synced_at)
    VALUES (:folder, :path, :hash, :mtime, :size, :text, :at)
    RETURNING number
"""
_UPDATE = (
    "UPDATE notes SET hash = :hash, mtime = :mtime, size = :size, text = :text, synced_at = :at WHERE number = :number"
)
_MOVE = """
    UPDATE notes SET folder = :folder, path = :path, mtime = :mtime, size = :size, synced_at = :at
     WHERE number = :number
"""
_REMOVE = "DELETE FROM notes WHERE number = :number"


def add_folder(tx: Tx, path: str, at: datetime) -> bool:
    """Follow a folder; return False when it is followed already."""
    return bool(tx.run(_ADD_FOLDER, {"path": path, "at": micros(at)}))


def remove_folder(tx: Tx, path: str) -> bool:
    """Stop following a folder; its notes must have been removed before."""
    return bool(tx.run(_REMOVE_FOLDER, {"path": path}))


def folders(tx: Tx) -> list[NoteFolder]:
    """Return the followed folders, by path."""
    rows = sorted(tx.rows(_FOLDERS, {}), key=lambda row: row[1])
    return [NoteFolder(number=row[0], path=row[1], added_at=moment(row[2]), notes=row[3]) for row in rows]


def page(tx: Tx, *, after: int, limit: int) -> list[Note]:
    """Return the notes after a number, in insertion order."""
    return [_from_row(row) for row in tx.rows(_PAGE, {"after": after, "limit": limit})]


def of_folder(tx: Tx, folder: str) -> list[Note]:
    """Return the notes of a folder, by path."""
    rows = sorted(tx.rows(_OF_FOLDER, {"folder": folder}), key=lambda row: row[2])
    return [_from_row(row) for row in rows]


def find(tx: Tx, folder: str, path: str) -> Note | None:
    """Return the note of a file, or None."""
    rows = tx.rows(_FIND, {"folder": folder, "path": path})
    return _from_row(rows[0]) if rows else None


def text(tx: Tx, number: int) -> str:
    """Return the text of a note."""
    rows = tx.rows(_TEXT, {"number": number})
    return rows[0][0] if rows else ""


def everything(tx: Tx) -> Iterable[Row]:
    """Return the number, path and text of every note."""
    return tx.rows(_TEXTS, {})


def following(tx: Tx, number: int, limit: int) -> list[Row]:
    """Return the number, path and text of the notes after a row number."""
    return tx.rows(_FOLLOWING, {"number": number, "limit": limit})


def insert(tx: Tx, note: Note, text: str) -> int:
    """Add a note, and return its number."""
    return tx.rows(
        _INSERT, {"folder": note.folder, "path": note.path, **_state(note), "hash": note.hash, "text": text}
    )[0][0]


def update(tx: Tx, note: Note, text: str) -> None:
    """Store the new text of a file."""
    tx.run(_UPDATE, {"number": note.number, **_state(note), "hash": note.hash, "text": text})


def move(tx: Tx, note: Note) -> None:
    """Store the new path of a file, and its times."""
    tx.run(_MOVE, {"number": note.number, "folder": note.folder, "path": note.path, **_state(note)})


def remove(tx: Tx, number: int) -> bool:
    """Delete a note."""
    return bool(tx.run(_REMOVE, {"number": number}))


def _state(note: Note) -> dict[str, int]:
    return {"mtime": micros(note.modified_at), "size": note.size, "at": micros(note.synced_at)}


def _from_row(row: Row) -> Note:
    return Note(
        number=row[0],
        folder=row[1],
        path=row[2],
        hash=row[3],
        modified_at=moment(row[4]),
        size=row[5],
        synced_at=moment(row[6]),
    )
