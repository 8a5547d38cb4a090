"""The rows of keys.db: the home's id, who holds its master key, the recovery wrap, and one wrapped key per vault."""

import json
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import Damaged, SchemaNewer
from recollectum.home.keys.holders import HolderKind, Record
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

_VERSION = 1
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS home (
        one        INTEGER PRIMARY KEY CHECK (one = 1),
        id         TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS holder (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        kind        TEXT NOT NULL,
        detail      TEXT NOT NULL,
        -- Of the master key; from it the key cannot be found.
        fingerprint BLOB NOT NULL,
        chosen_at   INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS recovery (
        one     INTEGER PRIMARY KEY CHECK (one = 1),
        wrapped BLOB NOT NULL,
        made_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS vault_keys (
        vault_id TEXT PRIMARY KEY,
        wrapped  BLOB NOT NULL,
        made_at  INTEGER NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;
"""
_VERSION_OF = "PRAGMA user_version"
_NAME_HOME = "INSERT INTO home (one, id, created_at) VALUES (1, :id, :now) ON CONFLICT DO NOTHING"
_HOME_ID = "SELECT id FROM home"
_SAVE_HOLDER = """
    INSERT OR REPLACE INTO holder (one, kind, detail, fingerprint, chosen_at)
    VALUES (1, :kind, :detail, :fingerprint, :now)
"""
_HOLDER = "SELECT kind, detail, fingerprint FROM holder"
_SAVE_RECOVERY = "INSERT OR REPLACE INTO recovery (one, wrapped, made_at) VALUES (1, :wrapped, :now)"
_RECOVERY = "SELECT wrapped, made_at FROM recovery"
_ADD_KEY = "INSERT INTO vault_keys (vault_id, wrapped, made_at) VALUES (:id, :wrapped, :now) ON CONFLICT DO NOTHING"
_KEY = "SELECT wrapped FROM vault_keys WHERE vault_id = :id"
_REMOVE_KEY = "DELETE FROM vault_keys WHERE vault_id = :id"


def is_made(tx: Tx, path: Path) -> bool:
    """Whether the tables are there; a file of a newer program is refused in words."""
    version = tx.rows(_VERSION_OF, {})[0][0]
    if version > _VERSION:
        raise SchemaNewer(
            f"{path} was written by a newer Recollectum (schema {version}, this one knows {_VERSION}); "
            "upgrade the program"
        )
    return version == _VERSION


def make(tx: Tx, home_id: str, now: datetime) -> None:
    """Create the tables, and name the home unless it has a name."""
    tx.rows(_SCHEMA, {})
    tx.run(_NAME_HOME, {"id": home_id, "now": micros(now)})


def home_id(tx: Tx) -> str:
    """The id under which a keyring or a key file knows this home."""
    return str(tx.rows(_HOME_ID, {})[0][0])


def find_holder(tx: Tx, path: Path) -> Record | None:
    """Who holds the master key, once that was settled."""
    rows = tx.rows(_HOLDER, {})
    if not rows:
        return None
    kind, detail, fingerprint = rows[0]
    try:
        return Record(kind=HolderKind(kind), detail=json.loads(detail), fingerprint=fingerprint)
    except ValueError:
        raise Damaged(f"{path} does not say who holds the key; restore keys.db from a backup") from None


def save_holder(tx: Tx, record: Record, now: datetime) -> None:
    """Settle, or change, who holds the master key."""
    detail = json.dumps(dict(record.detail))
    row = {"kind": record.kind.value, "detail": detail, "fingerprint": record.fingerprint, "now": micros(now)}
    tx.run(_SAVE_HOLDER, row)


def find_recovery(tx: Tx) -> tuple[bytes, datetime] | None:
    """The master key wrapped by the recovery code, and when the code was made."""
    rows = tx.rows(_RECOVERY, {})
    return (rows[0][0], moment(rows[0][1])) if rows else None


def save_recovery(tx: Tx, wrapped: bytes, now: datetime) -> None:
    """Keep the wrap of a new code; the one before it opens nothing any more."""
    tx.run(_SAVE_RECOVERY, {"wrapped": wrapped, "now": micros(now)})


def find_key(tx: Tx, vault_id: str) -> bytes | None:
    """The wrapped key of one vault."""
    rows = tx.rows(_KEY, {"id": vault_id})
    return rows[0][0] if rows else None


def add_key(tx: Tx, vault_id: str, wrapped: bytes, now: datetime) -> bool:
    """Keep the wrapped key of a new vault; False when it has one."""
    return tx.run(_ADD_KEY, {"id": vault_id, "wrapped": wrapped, "now": micros(now)}) == 1


def remove_key(tx: Tx, vault_id: str) -> bool:
    """Delete the wrapped key of one vault; False when there was none."""
    return tx.run(_REMOVE_KEY, {"id": vault_id}) == 1
