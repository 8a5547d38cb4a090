"""Reads and writes the tables of keys: the home's id, the holder of its master key, and the wrapped keys.

They are in the file keys.db of a home, or in the catalog of a keys database.
"""

import json
from datetime import datetime

from recollectum.domain.errors import Damaged
from recollectum.home.keys.holders import HolderKind, HolderRecord
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

#: The name of the key of a vault's tasks begins with this. No vault id has a colon.
TASK_KEY = "tasks:"
_NAME_HOME = "INSERT INTO home (one, id, created_at) VALUES (1, :id, :now) ON CONFLICT DO NOTHING"
_SAVE_HOLDER = """
    INSERT INTO holder (one, kind, detail, fingerprint, chosen_at)
    VALUES (1, :kind, :detail, :fingerprint, :now)
    ON CONFLICT (one) DO UPDATE SET kind = excluded.kind, detail = excluded.detail,
        fingerprint = excluded.fingerprint, chosen_at = excluded.chosen_at
"""
_HOLDER = "SELECT kind, detail, fingerprint FROM holder"
_SAVE_RECOVERY = """
    INSERT INTO recovery (one, wrapped, made_at) VALUES (1, :wrapped, :now)
    ON CONFLICT (one) DO UPDATE SET wrapped = excluded.wrapped, made_at = excluded.made_at
"""
_RECOVERY = "SELECT wrapped, made_at FROM recovery"
_ADD_KEY = "INSERT INTO vault_keys (vault_id, wrapped, made_at) VALUES (:id, :wrapped, :now) ON CONFLICT DO NOTHING"
_KEY = "SELECT wrapped FROM vault_keys WHERE vault_id = :id"
_NAMES = "SELECT vault_id FROM vault_keys ORDER BY vault_id"
_REPLACE_KEY = """
    UPDATE vault_keys SET wrapped = :wrapped, made_at = COALESCE(:now, made_at) WHERE vault_id = :id
"""
_REMOVE_RECOVERY = "DELETE FROM recovery"
_REMOVE_KEY = "DELETE FROM vault_keys WHERE vault_id = :id"


def name_home(tx: Tx, home_id: str, now: datetime) -> None:
    """Give the home an id unless it has one."""
    tx.run(_NAME_HOME, {"id": home_id, "now": micros(now)})


def home_id(tx: Tx) -> str:
    """Return the id under which a keyring or a key file stores this home's master key."""
    return str(tx.rows("SELECT id FROM home", {})[0][0])


def find_holder(tx: Tx, words: str) -> HolderRecord | None:
    """Return the holder of the master key, or None before one was chosen."""
    rows = tx.rows(_HOLDER, {})
    if not rows:
        return None
    kind, detail, fingerprint = rows[0]
    try:
        return HolderRecord(kind=HolderKind(kind), detail=json.loads(detail), fingerprint=fingerprint)
    except ValueError:
        raise Damaged(f"{words} does not say who holds the key; restore it from a backup") from None


def save_holder(tx: Tx, record: HolderRecord, now: datetime) -> None:
    """Set or replace the holder of the master key."""
    detail = json.dumps(dict(record.detail))
    row = {"kind": record.kind.value, "detail": detail, "fingerprint": record.fingerprint, "now": micros(now)}
    tx.run(_SAVE_HOLDER, row)


def find_recovery(tx: Tx) -> tuple[bytes, datetime] | None:
    """Return the master key wrapped by the recovery code, and the time the code was made."""
    rows = tx.rows(_RECOVERY, {})
    return (rows[0][0], moment(rows[0][1])) if rows else None


def save_recovery(tx: Tx, wrapped: bytes, now: datetime) -> None:
    """Store the master key as wrapped by a new recovery code; the previous code no longer works."""
    tx.run(_SAVE_RECOVERY, {"wrapped": wrapped, "now": micros(now)})


def find_key(tx: Tx, vault_id: str) -> bytes | None:
    """Return the wrapped key of one vault."""
    rows = tx.rows(_KEY, {"id": vault_id})
    return rows[0][0] if rows else None


def add_key(tx: Tx, vault_id: str, wrapped: bytes, now: datetime) -> bool:
    """Store the wrapped key of a new vault; return False when it already has one."""
    return tx.run(_ADD_KEY, {"id": vault_id, "wrapped": wrapped, "now": micros(now)}) == 1


def remove_key(tx: Tx, vault_id: str) -> bool:
    """Delete the wrapped key of one vault; return False when there was none."""
    return tx.run(_REMOVE_KEY, {"id": vault_id}) == 1


def names_of_keys(tx: Tx) -> list[str]:
    """Return the names of all wrapped keys, in order."""
    return [str(name) for (name,) in tx.rows(_NAMES, {})]


def replace_key(tx: Tx, vault_id: str, wrapped: bytes, now: datetime | None = None) -> None:
    """Store another wrap under a name that has one; with `now`, of another key that was made then."""
    tx.run(_REPLACE_KEY, {"id": vault_id, "wrapped": wrapped, "now": None if now is None else micros(now)})


def remove_recovery(tx: Tx) -> None:
    """Delete the wrap of the recovery code, which no longer works then."""
    tx.run(_REMOVE_RECOVERY, {})
