"""A purge from its first note to its receipt; cut short at any point, it goes on from there at the next open."""

import json
from dataclasses import replace

from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased, erased_items, erased_rows, meta, receipts
from recollectum.storage.tables.erased_items import UnderWay
from recollectum.vault import changes
from recollectum.vault.erasing import finish_erasing, mark_remains
from recollectum.vault.footing import Footing
from recollectum.vault.learning_files import owner_folder
from recollectum.vault.learning_sync import sync
from recollectum.vault.purge_destroying import Destroyer
from recollectum.vault.purge_ground import Ground, digest, owner_digest, vault_digest
from recollectum.vault.purge_needles import Needles
from recollectum.vault.purge_planning import Selection
from recollectum.vault.purge_request import PurgeKind, PurgeState, Receipt
from recollectum.vault.purge_searching import search
from recollectum.vault.receipts_signing import from_kept, sign, to_kept

#: Up to which number of the ledger a vault has come.
MARK = "erasures"
_BATCH = 500
_HELD = "another reader still holds what was erased in the log; close it, then run: recollectum purge finish"
_FOUND = "what was erased is still in the files that are named; look at them, and remove it there"
_UNSEARCHED = "the purge was cut short, and what it erased before that could not be searched for"


def begin(tx: Tx, purge: UnderWay, selection: Selection) -> None:
    """Note, in the transaction that agreed to it, all that a purge is to destroy."""
    erased_items.begin(tx, purge, selection.items())


def carry_on(footing: Footing, ground: Ground, purge: UnderWay) -> Receipt:
    """Do what is still to be done of a purge, and write its receipt."""
    number = _note_in_ledger(footing, ground, purge)
    needles = ground.needles.setdefault(purge.id, Needles())
    while _destroy_some(footing, purge, needles):
        pass
    footing.write(lambda tx, _: _close(tx, number), frees=True)
    _rewrite_files(footing)
    footing.session_lists.clear()
    # What came back was erased before: the backups made since then are without it.
    again = PurgeKind(purge.kind) is PurgeKind.RESTORED
    gone = ground.destroy_backups((ground.vault_id,), ground.erased_until() if again else None)
    receipt = _receipt(footing, ground, purge, needles, gone)
    kept = keep(ground, receipt)
    # A read from before would not see this, and a purge that waits is asked for again.
    footing.database.write(lambda tx: erased_items.set_state(tx, purge.id, kept.state.value), frees=True)
    if kept.state is PurgeState.DONE:
        ground.needles.pop(purge.id, None)
    return kept


def keep(ground: Ground, receipt: Receipt) -> Receipt:
    """Sign a receipt and keep it; one that says more already is not replaced."""
    vault, seed = vault_digest(ground.salt(), ground.vault_id), ground.seed()

    def change(tx: Tx) -> Receipt:
        known = receipts.find(tx, receipt.id)
        before = from_kept(known) if known else None
        if before and before.state is PurgeState.DONE and before.samples >= receipt.samples:
            return before
        # A purge that goes on does not find again what it destroyed before.
        gone = max(receipt.backups_destroyed, before.backups_destroyed) if before else receipt.backups_destroyed
        made = sign(replace(receipt, backups_destroyed=gone), seed)
        receipts.save(tx, to_kept(made, vault))
        return made

    return ground.catalog.write(change)


def _note_in_ledger(footing: Footing, ground: Ground, purge: UnderWay) -> int:
    """First of all: whoever puts an older copy back finds what was erased noted here."""
    salt = ground.salt()
    vault = vault_digest(salt, ground.vault_id)
    names = {1: "memory", 2: "message", 3: "session", 4: "folder", 5: "root"}
    left = footing.database.read(lambda tx: erased_items.items(tx, purge.id))
    digests = [digest(salt, ground.vault_id, names[rank], item) for rank, item in left if rank in names]
    return ground.catalog.write(lambda tx: erased.add(tx, vault, digests, purge.at))


def _destroy_some(footing: Footing, purge: UnderWay, needles: Needles) -> bool:
    def change(tx: Tx, reading: Reading) -> bool:
        some = erased_items.next_items(tx, purge.id, _BATCH)
        destroyer = Destroyer(changes.Change(tx, purge.by, reading.now), needles)
        for rank, item in some:
            destroyer.destroy(rank, item)
            erased_items.item_done(tx, purge.id, rank, item)
        if some:
            mark_remains(tx)
        return bool(some)

    return footing.write(change, frees=True)


def _close(tx: Tx, number: int) -> None:
    erased_rows.drop_derived(tx)
    meta.save(tx, MARK, str(number))
    mark_remains(tx)


def _rewrite_files(footing: Footing) -> None:
    """Take the lines of memories that are gone out of the files of learnings."""
    for agent in footing.database.read(erased_rows.stale_agents):
        sync(footing, agent)
    footing.database.write(erased_rows.forget_lines, frees=True)


def _receipt(footing: Footing, ground: Ground, purge: UnderWay, needles: Needles, gone: int) -> Receipt:
    owner = footing.gate.owner
    blank = Receipt(
        id=purge.id,
        kind=PurgeKind(purge.kind),
        state=PurgeState.PENDING,
        request=purge.digest,
        owner=owner_digest(ground.salt(), owner or ""),
        by=purge.by,
        began_at=purge.at.isoformat(),
        at=ground.clock().isoformat(),
        counts=dict(purge.counts),
        backups_destroyed=gone,
        reason=_HELD,
    )
    if not finish_erasing(footing):
        return blank
    folder = owner_folder(footing.owners, owner) if footing.owners and owner else None
    found = search(
        ground.home,
        needles,
        (ground.vault_id,),
        folder,
        lambda place: footing.database.read(lambda tx: _explained(tx, needles, place)),
    )
    return searched(blank, found.samples, (found.files, found.bytes), [name for _, name in found.hits])


def searched(blank: Receipt, samples: int, scanned: tuple[int, int], hits: list[str]) -> Receipt:
    """The receipt with what the search of the files says."""
    lost = _UNSEARCHED if not samples and blank.counts else None
    return replace(
        blank,
        state=PurgeState.FAILED if hits else PurgeState.DONE,
        samples=samples,
        files_scanned=scanned[0],
        bytes_scanned=scanned[1],
        hits=len(hits),
        hit_files=tuple(sorted(set(hits))),
        reason=_FOUND if hits else lost,
    )


def _explained(tx: Tx, needles: Needles, place: int) -> bool:
    """Whether what stays says the same, so that it is in the file by right."""
    needle = needles.at(place)
    if isinstance(needle, bytes):
        return erased_rows.has_vector(tx, needle)
    spelled = (needle, json.dumps(needle)[1:-1])
    return any(erased_rows.stands(tx, one) for one in spelled) or (
        needles.is_term(place) and erased_rows.is_name(tx, needle)
    )
