"""Loads and stores the small documents of a vault: JSON objects, each with the version of its schema and a bound.

A document is a row, so it is replaced as a whole, writers take turns, and it is encrypted, backed up, exported, moved
and purged with the vault. One that cannot be read, or that a newer program wrote, is refused and never overwritten.
"""

import json
from datetime import datetime
from typing import Any, NoReturn, cast

from recollectum.domain.errors import Damaged, InvalidInput, SchemaNewer
from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.tables.agent_state import documents
from recollectum.storage.tables.agent_state.documents import StoredDocument

#: The fields of a document; those that this program does not know stay as they are.
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """What all documents of one kind have in common."""

    #: What a person calls it.
    title: str
    version: int
    most_bytes: int


def load(tx: Tx, name: str, kind: DocumentKind) -> Fields:
    """Return the fields of a document, empty when there is none; raise when it is newer or cannot be read."""
    stored = documents.find(tx, name)
    if stored is None:
        return {}
    if stored.version > kind.version:
        raise SchemaNewer(
            f"{kind.title} was written by a newer Recollectum (version {stored.version}, this one knows "
            f"{kind.version}); upgrade the program, nothing was changed"
        )
    try:
        found: object = json.loads(stored.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        refuse(kind)
    return cast("Fields", found)


def store(tx: Tx, name: str, kind: DocumentKind, fields: Fields, at: datetime) -> None:
    """Store the fields of a document, or delete one without fields; raise when it is too large."""
    if not fields:
        documents.delete(tx, name)
        return
    body = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    size = len(body.encode())
    if size > kind.most_bytes:
        raise InvalidInput(
            f"{kind.title} would have {size:,} bytes, and at most {kind.most_bytes:,} are kept; remove some of it first"
        )
    documents.replace(tx, name, StoredDocument(kind.version, body), at)


def refuse(kind: DocumentKind) -> NoReturn:
    """Raise, because a document is not what this program wrote."""
    raise Damaged(f"{kind.title} cannot be read, and nothing was changed; restore the vault from a backup")
