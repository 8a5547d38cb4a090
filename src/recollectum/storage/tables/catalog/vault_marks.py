"""Reads and writes the vault_marks table of the catalog: how far each vault was when it was last seen."""

from typing import NamedTuple

from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import progress

_FIND = "SELECT events, texts FROM vault_marks WHERE vault = :vault"
_ADVANCE = """
    INSERT INTO vault_marks (vault, events, texts)
    SELECT id, :events, :texts FROM vaults WHERE id = :vault
    ON CONFLICT (vault) DO UPDATE SET
        events = CASE WHEN excluded.events > vault_marks.events THEN excluded.events ELSE vault_marks.events END,
        texts = CASE WHEN excluded.texts > vault_marks.texts THEN excluded.texts ELSE vault_marks.texts END
"""
_GO_BACK = """
    UPDATE vault_marks SET events = :events, texts = :texts,
           missing_events = missing_events + :missing_events, missing_texts = missing_texts + :missing_texts
     WHERE vault = :vault
"""
_MISSING = "SELECT missing_events, missing_texts FROM vault_marks WHERE vault = :vault"
_SETTLE = "UPDATE vault_marks SET missing_events = 0, missing_texts = 0 WHERE vault = :vault"
_REMOVE = "DELETE FROM vault_marks WHERE vault = :vault"


class VaultMark(NamedTuple):
    """The number of the last event of a vault, and of its last piece of text; neither is ever used again."""

    events: int
    texts: int

    def lacking(self, found: "VaultMark") -> "VaultMark | None":
        """Return what a file that is as far as `found` lacks; None when it lacks nothing."""
        missing = VaultMark(max(0, self.events - found.events), max(0, self.texts - found.texts))
        return missing if any(missing) else None


def of_vault(tx: Tx) -> VaultMark:
    """Return how far a vault is; in a transaction of that vault."""
    return VaultMark(*progress.find(tx))


def find(tx: Tx, vault_id: str) -> VaultMark | None:
    """Return how far a vault was when it was last seen."""
    rows = tx.rows(_FIND, {"vault": vault_id})
    return VaultMark(*rows[0]) if rows else None


def advance(tx: Tx, vault_id: str, mark: VaultMark) -> None:
    """Store how far a vault is, unless it was seen further on."""
    tx.run(_ADVANCE, {"vault": vault_id, **mark._asdict()})


def go_back(tx: Tx, vault_id: str, mark: VaultMark, missing: VaultMark) -> None:
    """Store how far an older file is, and what it lacks."""
    lacks = {"missing_events": missing.events, "missing_texts": missing.texts}
    tx.run(_GO_BACK, {"vault": vault_id, **mark._asdict(), **lacks})


def find_missing(tx: Tx, vault_id: str) -> VaultMark | None:
    """Return what an older file of a vault lacked; None when nothing is known to be missing."""
    rows = tx.rows(_MISSING, {"vault": vault_id})
    return VaultMark(*rows[0]) if rows and any(rows[0]) else None


def settle(tx: Tx, vault_id: str) -> None:
    """Forget what an older file lacked: a person goes on without it."""
    tx.run(_SETTLE, {"vault": vault_id})


def remove(tx: Tx, vault_id: str) -> None:
    """Forget how far a vault was: it was replaced on purpose."""
    tx.run(_REMOVE, {"vault": vault_id})
