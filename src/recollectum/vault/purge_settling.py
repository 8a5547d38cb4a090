"""What opening does for erasure: a purge that was cut short goes on, and what an older copy brought back goes again."""

from contextlib import suppress
from datetime import timedelta

from recollectum.domain.errors import HomeError, StorageError
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased, erased_items, erased_lineage, meta, receipts
from recollectum.storage.tables.erased_items import UnderWay
from recollectum.vault.footing import Footing
from recollectum.vault.purge_ground import Ground, digest, vault_digest
from recollectum.vault.purge_person import carry_out, conclude, sweep_returned
from recollectum.vault.purge_planning import Named, Selection, select
from recollectum.vault.purge_request import PurgeKind, PurgeRequest, Receipt
from recollectum.vault.purge_running import MARK, begin, carry_on
from recollectum.vault.receipts_signing import from_kept

#: Who takes away what came back.
LEDGER = "ledger"


def settle_vault(footing: Footing, ground: Ground) -> None:
    """Finish what is open in a vault that was just opened; it is not served before what was erased has gone again."""
    if not ground.has_ledger():
        return
    if _is_behind(footing, ground):
        with ground.lock():
            _take_away_again(footing, ground)
    # A disk that takes no writes must not keep anybody from reading: the purge waits.
    with suppress(StorageError, HomeError):
        finish_vault(footing, ground)


def finish_vault(footing: Footing, ground: Ground) -> list[Receipt]:
    """Go on with every purge that is not done, unless another process is at it."""
    if not footing.database.read(erased_items.unfinished):
        return []
    lock = ground.lock()
    if not lock.wait(timedelta()):
        return []
    try:
        return [carry_on(footing, ground, one) for one in footing.database.read(erased_items.unfinished)]
    finally:
        lock.release()


def settle_home(ground: Ground) -> list[Receipt]:
    """Finish what is left of people who were on their way out, and destroy vaults of theirs that were put back."""
    if not ground.has_ledger():
        return []
    sweep_returned(ground)
    done = [carry_out(ground, one) for one in ground.catalog.read(erased.departures)]
    known = {one.id for one in done}
    waiting = [from_kept(one) for one in ground.catalog.read(receipts.pending) if one.id not in known]
    # Of a person: those of a vault go on when it is opened.
    return [*done, *(conclude(ground, one) for one in waiting if one.kind is PurgeKind.USER)]


def _is_behind(footing: Footing, ground: Ground) -> bool:
    vault = vault_digest(ground.salt(), ground.vault_id)
    last = ground.catalog.read(lambda tx: erased.last(tx, vault))
    return last > int(footing.database.read(lambda tx: meta.find(tx, MARK)) or 0) and not _is_at_it(footing)


def _is_at_it(footing: Footing) -> bool:
    """Whether the vault itself knows of the purge, which then only has to go on."""
    return bool(footing.database.read(erased_items.unfinished))


def _take_away_again(footing: Footing, ground: Ground) -> None:
    salt = ground.salt()
    vault = vault_digest(salt, ground.vault_id)
    noted, last = ground.catalog.read(lambda tx: (erased.of(tx, vault), erased.last(tx, vault)))

    def change(tx: Tx, reading: Reading) -> UnderWay | None:
        back = {
            what: frozenset(one for one in ids if digest(salt, ground.vault_id, what, one) in noted)
            for what, ids in erased_lineage.all_ids(tx).items()
        }
        if not any(back.values()):
            meta.save(tx, MARK, str(last))
            return None
        selection = select(tx, _named(back))
        purge = _purge(footing, selection, reading)
        begin(tx, purge, selection)
        return purge

    purge = footing.write(change, frees=True)
    if purge:
        carry_on(footing, ground, purge)


def _named(back: dict[str, frozenset[str]]) -> Named:
    return Named(
        sessions=back["session"],
        messages=back["message"],
        memories=back["memory"],
        folders=back["folder"],
        roots=back["root"],
    )


def _purge(footing: Footing, selection: Selection, reading: Reading) -> UnderWay:
    return UnderWay(
        id=footing.ids("prg"),
        kind=PurgeKind.RESTORED.value,
        digest=PurgeRequest(kind=PurgeKind.RESTORED).digest(),
        by=LEDGER,
        at=reading.now,
        state="begun",
        counts=selection.counts,
    )
