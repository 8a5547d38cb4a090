"""Reads and writes the receipts table of the catalog: signed records of purges, without content."""

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx

_COLUMNS = "id, vault, state, body, signature"
_SAVE = f"""
    INSERT INTO receipts ({_COLUMNS}) VALUES (:id, :vault, :state, :body, :signature)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body, signature = excluded.signature
"""  # noqa: S608  (constants of this file)
_ONE = f"SELECT {_COLUMNS} FROM receipts WHERE id = :id"  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM receipts WHERE CAST(:vault AS BLOB) IS NULL OR vault = :vault ORDER BY id"  # noqa: S608
_PENDING = f"SELECT {_COLUMNS} FROM receipts WHERE state = 'pending' ORDER BY id"  # noqa: S608
_UNPROVEN = f"""
    SELECT {_COLUMNS} FROM receipts
     WHERE state IN ('unverified', 'failed') AND EXISTS (SELECT 1 FROM purge_samples WHERE purge_id = receipts.id)
     ORDER BY id
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """A stored receipt: its signed text, and the signature."""

    id: str
    vault: bytes
    state: str
    body: str
    signature: bytes


def save(tx: Tx, one: StoredReceipt) -> None:
    """Store a receipt; replace one of the same id, because its purge went on."""
    row = {"id": one.id, "vault": one.vault, "state": one.state, "body": one.body, "signature": one.signature}
    tx.run(_SAVE, row)


def find(tx: Tx, receipt_id: str) -> StoredReceipt | None:
    """Return the receipt with that id, or None."""
    rows = tx.rows(_ONE, {"id": receipt_id})
    return _from_row(rows[0]) if rows else None


def everything(tx: Tx, vault: bytes | None = None) -> list[StoredReceipt]:
    """Return all receipts, or those of one vault, oldest first."""
    return [_from_row(row) for row in tx.rows(_ALL, {"vault": vault})]


def pending(tx: Tx) -> list[StoredReceipt]:
    """Return the receipts of unfinished purges."""
    return [_from_row(row) for row in tx.rows(_PENDING, {})]


def unproven(tx: Tx) -> list[StoredReceipt]:
    """Return the receipts of erased people for whom every file can be searched again."""
    return [_from_row(row) for row in tx.rows(_UNPROVEN, {})]


def _from_row(row: Row) -> StoredReceipt:
    return StoredReceipt(id=row[0], vault=row[1], state=row[2], body=row[3], signature=row[4])
