"""Reads and writes all rows of a key place at once, to copy the keys and to compare two copies."""

from collections.abc import Collection
from typing import NamedTuple

from recollectum.storage.port import Row, Tx

_READ = {
    "home": "SELECT one, id, created_at FROM home",
    "holder": "SELECT one, kind, detail, fingerprint, chosen_at FROM holder",
    "recovery": "SELECT one, wrapped, made_at FROM recovery",
    "vault_keys": "SELECT vault_id, wrapped, made_at FROM vault_keys ORDER BY vault_id",
}
_ADD = {
    "home": "INSERT INTO home (one, id, created_at) VALUES (:a, :b, :c)",
    "holder": "INSERT INTO holder (one, kind, detail, fingerprint, chosen_at) VALUES (:a, :b, :c, :d, :e)",
    "recovery": "INSERT INTO recovery (one, wrapped, made_at) VALUES (:a, :b, :c)",
    "vault_keys": "INSERT INTO vault_keys (vault_id, wrapped, made_at) VALUES (:a, :b, :c)",
}
_REMOVE = {
    "home": "DELETE FROM home",
    "holder": "DELETE FROM holder",
    "recovery": "DELETE FROM recovery",
    "vault_keys": "DELETE FROM vault_keys",
}
#: The ledger of erasures, which a keys database has too.
_REMOVE_LEDGER = ("DELETE FROM erased", "DELETE FROM receipts", "DELETE FROM erasure_secrets")


class KeyRows(NamedTuple):
    """Every row of the tables of keys."""

    home: tuple[Row, ...]
    holder: tuple[Row, ...]
    recovery: tuple[Row, ...]
    vault_keys: tuple[Row, ...]

    def only(self, names: Collection[str]) -> "KeyRows":
        """Return the same rows with the keys of these names alone."""
        return self._replace(vault_keys=tuple(row for row in self.vault_keys if row[0] in names))


def read_rows(tx: Tx) -> KeyRows:
    """Return every row."""
    return KeyRows(**{table: tuple(map(tuple, tx.rows(sql, {}))) for table, sql in _READ.items()})


def add_rows(tx: Tx, rows: KeyRows) -> None:
    """Write every row into tables without any."""
    for table, sql in _ADD.items():
        for row in getattr(rows, table):
            tx.run(sql, dict(zip("abcde", row, strict=False)))


def remove_rows(tx: Tx) -> None:
    """Delete every row."""
    for sql in _REMOVE.values():
        tx.run(sql, {})


def remove_ledger(tx: Tx) -> None:
    """Delete the erasure ledger from the catalog of a keys database."""
    for sql in _REMOVE_LEDGER:
        tx.run(sql, {})
