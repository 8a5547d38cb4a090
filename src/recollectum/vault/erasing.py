"""Erasing what destroyed rows leave behind in the index and the log, and knowing when it is not done yet."""

from recollectum.storage.port import Tx
from recollectum.storage.tables import meta
from recollectum.vault.footing import Footing
from recollectum.vault.keeping import drop_going

_NAME = "remains"


def mark_remains(tx: Tx) -> None:
    """Note, in the transaction that destroys, that its remains are still to be erased."""
    meta.save(tx, _NAME, "1")


def finish_erasing(footing: Footing) -> bool:
    """Erase what is noted, now or after a crash; False while another reader holds an old snapshot."""
    drop_going(footing)
    if footing.database.read(lambda tx: meta.find(tx, _NAME)) != "1":
        return True
    if not footing.database.erase_remains():
        return False
    footing.database.write(lambda tx: meta.save(tx, _NAME, "0"), frees=True)
    return True
