"""Erases the physical remains of destroyed rows, and records that they are due so that a crash cannot skip it."""

from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta
from recollectum.vault.intake.kept_secrets import delete_queued_secrets
from recollectum.vault.runtime import VaultRuntime

_DUE_KEY = "remains"


def mark_remains_due(tx: Tx) -> None:
    """Record, in the transaction that deletes the rows, that their remains must be erased."""
    meta.save(tx, _DUE_KEY, "1")


def erase_remains(runtime: VaultRuntime) -> bool:
    """Erase the recorded remains, also after a crash; False while another reader holds an old snapshot."""
    delete_queued_secrets(runtime)
    if runtime.database.read(lambda tx: meta.find(tx, _DUE_KEY)) != "1":
        return True
    if not runtime.database.erase_remains():
        return False
    runtime.database.write(lambda tx: meta.save(tx, _DUE_KEY, "0"), frees=True)
    return True
