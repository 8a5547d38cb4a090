"""Erases a whole person: destroys the keys of their vaults, then the files, then their catalog rows."""

import shutil
from collections.abc import Callable

from recollectum.domain.access.owner import Owner
from recollectum.storage.engine import CATALOG
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import people, vaults
from recollectum.storage.tables.erasure import erased, purge_samples
from recollectum.storage.tables.erasure.erased import Departure
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.purge.environment import PurgeEnvironment, owner_digest, vault_digest
from recollectum.vault.purge.execution import store_receipt, with_search_result
from recollectum.vault.purge.matching import Outline, OutlineKey
from recollectum.vault.purge.request import PurgeKind, PurgeState, Receipt
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.search import search_files

_STILL_OPEN = (
    "another process has one of the person's vaults open, or reads the catalog; "
    "close it, then run: recollectum purge finish"
)


def vaults_of(tx: Tx, person: Owner) -> tuple[str, ...]:
    """Return the vaults of a person, each as its id and its owner."""
    return tuple(f"{entry.id} {entry.owner}" for entry in vaults.everything(tx) if entry.owner.person == person)


def begin_departure(environment: PurgeEnvironment, departure: Departure) -> None:
    """Record that a person is being erased, and lock their vaults from here on."""
    outlines = environment.needles[departure.id].to_outlines(OutlineKey(environment.outline_key(departure.id)))
    forget = _forget_in(environment, departure)

    def change(tx: Tx) -> None:
        erased.depart(tx, departure)
        purge_samples.add(tx, departure.id, [(one.bits, one.digest) for one in outlines])
        forget(tx)

    environment.catalog.write(change, frees=True)


def _forget_in(environment: PurgeEnvironment, departure: Departure) -> Callable[[Tx], None]:
    """Return what deletes a person from a catalog, and records there that their vaults were erased."""
    salt = environment.salt()

    def change(tx: Tx) -> None:
        environment.keep_salt(tx, salt)
        for vault_id in _ids(departure):
            erased.add(tx, vault_digest(salt, vault_id), [vault_digest(salt, vault_id)], departure.at)
        erased.strike(tx, _blank_receipt(departure))
        people.remove(tx, Owner.parse(departure.person))

    return change


def erase_person(environment: PurgeEnvironment, departure: Departure) -> Receipt:
    """Destroy what is left of a person; the receipt says whether that is all."""
    ids = _ids(departure)
    blank = Receipt(
        id=departure.id,
        kind=PurgeKind.USER,
        state=PurgeState.PENDING,
        request=departure.digest,
        owner=owner_digest(environment.salt(), departure.person),
        by=departure.by,
        began_at=departure.at.isoformat(),
        at=environment.clock().isoformat(),
        counts=dict(departure.counts),
        backups_destroyed=environment.destroy_backups((*ids, CATALOG), change=_forget_in(environment, departure)),
        elsewhere=environment.backups_elsewhere(ids),
        reason=_STILL_OPEN,
    )
    if not all([_destroy(environment, vault_id, departure.id) for vault_id in ids]):
        return store_receipt(environment, blank)
    for one in departure.vaults:
        folder = owner_folder(environment.home.root / "owners", Owner.parse(one.partition(" ")[2]))
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
    # The receipt first: after an interruption it says that the catalog's log is still to be emptied.
    waits = store_receipt(environment, blank)
    environment.catalog.write(lambda tx: erased.gone(tx, departure.person), frees=True)
    return finish_departure(environment, waits, ids)


def finish_departure(environment: PurgeEnvironment, waits: Receipt, ids: tuple[str, ...] = ()) -> Receipt:
    """Empty the catalog's log after everything else of a person is gone, and search every file."""
    if not environment.catalog.erase_remains():
        return waits
    resumed = waits.id not in environment.needles
    needles = _samples_of(environment, waits.id)
    # Word endings also occur in other names of the catalog; whole samples of text do not.
    needles.terms.clear()
    found = search_files(environment, waits.id, needles, ids, None, lambda _, __: False)
    is_lost = not len(needles) and (resumed or needles.short > 0)
    kept = store_receipt(environment, with_search_result(waits, found, is_lost=is_lost))
    if kept.state is PurgeState.DONE:
        environment.catalog.write(lambda tx: purge_samples.remove(tx, waits.id), frees=True)
        environment.needles.pop(waits.id, None)
    return kept


def _samples_of(environment: PurgeEnvironment, purge_id: str) -> ErasureSamples:
    """Return the samples that this process took, or what an earlier one kept of them."""
    known = environment.needles.get(purge_id)
    if known is None:
        kept = environment.catalog.read(lambda tx: purge_samples.of(tx, purge_id))
        known = ErasureSamples(outlines=[Outline(bits=bits, digest=digest) for bits, digest in kept])
    return known


def destroy_returned_vaults(environment: PurgeEnvironment) -> int:
    """Destroy the files of vaults that were erased as a whole and restored since; return how many."""
    known = {entry.id for entry in environment.catalog.read(vaults.everything)}
    salt, removed = environment.salt(), 0
    for vault_id in environment.engine.vault_ids():
        digest = vault_digest(salt, vault_id)
        if vault_id not in known and environment.catalog.read(lambda tx, d=digest: erased.is_noted(tx, d, d)):
            environment.engine.destroy_vault(vault_id)
            removed += 1
    return removed


def _destroy(environment: PurgeEnvironment, vault_id: str, departure_id: str) -> bool:
    """Destroy the key and the file of one vault; False while another process has it open."""
    if environment.engine.place_of(vault_id) and not environment.release(vault_id):
        return False
    # Before the key: without its file they would never be found again.
    environment.forget_secrets(vault_id)
    if departure_id in environment.needles and environment.keys.has_key(vault_id):
        environment.needles[departure_id].keys.append(environment.keys.key(vault_id))
    environment.keys.destroy_key(vault_id)
    environment.engine.destroy_vault(vault_id)
    return True


def _ids(departure: Departure) -> tuple[str, ...]:
    return tuple(one.partition(" ")[0] for one in departure.vaults)


def _blank_receipt(departure: Departure) -> Departure:
    return Departure(
        person=departure.person,
        id=departure.id,
        digest=departure.digest,
        by=departure.by,
        at=departure.at,
        vaults=_ids(departure),
        counts=departure.counts,
    )
