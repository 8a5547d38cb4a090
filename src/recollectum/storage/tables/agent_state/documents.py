"""Reads and writes the documents table: small JSON documents, each with the version of its schema."""

from datetime import datetime
from typing import NamedTuple

from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_FIND = "SELECT version, body FROM documents WHERE name = :name"
_NAMES = "SELECT name FROM documents"
_SAVE = """
    INSERT INTO documents (name, version, body, updated_at) VALUES (:name, :version, :body, :at)
    ON CONFLICT (name) DO UPDATE
       SET version = excluded.version, body = excluded.body, updated_at = excluded.updated_at
"""
_DELETE = "DELETE FROM documents WHERE name = :name"


class StoredDocument(NamedTuple):
    """A document as it is stored."""

    version: int
    body: str


def find(tx: Tx, name: str) -> StoredDocument | None:
    """Return the document of that name, or None."""
    rows = tx.rows(_FIND, {"name": name})
    return StoredDocument(rows[0][0], rows[0][1]) if rows else None


def names(tx: Tx) -> list[str]:
    """Return the names of all documents, in order."""
    return sorted(row[0] for row in tx.rows(_NAMES, {}))


def replace(tx: Tx, name: str, document: StoredDocument, at: datetime) -> None:
    """Store a document in place of the one of that name."""
    tx.run(_SAVE, {"name": name, "version": document.version, "body": document.body, "at": micros(at)})


def delete(tx: Tx, name: str) -> bool:
    """Delete a document, and return whether it existed."""
    return tx.run(_DELETE, {"name": name}) == 1
