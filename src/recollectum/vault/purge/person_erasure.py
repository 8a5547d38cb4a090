"""Erases a whole person: destroys the keys of their vaults, then the files, then their catalog rows."""

import shutil

from recollectum.domain.access.owner import Owner
from recollectum.storage.engine import CATALOG
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import people, vaults
from recollectum.storage.tables.erasure import erased
from recollectum.storage.tables.erasure.erased import Departure
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.purge.environment import ErasureSamples, PurgeEnvironment, owner_digest, vault_digest
from recollectum.vault.purge.execution import store_receipt, with_search_result
from recollectum.vault.purge.request import PurgeKind, PurgeState, Receipt
from recollectum.vault.purge.search import search_files

_STILL_OPEN = (
    "another process has a vault of theirs open, or reads the catalog; close it, then run: recollectum purge finish"
)


def vaults_of(tx: Tx, person: Owner) -> tuple[str, ...]:
    """Return the vaults of a person, each as its id and its owner."""
    return tuple(f"{entry.id} {entry.owner}" for entry in vaults.everything(tx) if entry.owner.person == person)


def begin_departure(environment: PurgeEnvironment, departure: Departure) -> None:
    """Record that a person is being erased, and lock their vaults from here on."""
    salt = environment.salt()

    def change(tx: Tx) -> None:
        erased.depart(tx, departure)
        for vault_id in _ids(departure):
            erased.add(tx, vault_digest(salt, vault_id), [vault_digest(salt, vault_id)], departure.at)
        erased.strike(tx, _blank_receipt(departure))
        people.remove(tx, Owner.parse(departure.person))

    environment.catalog.write(change, frees=True)


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
        backups_destroyed=environment.destroy_backups((*ids, CATALOG)),
        reason=_STILL_OPEN,
    )
    if not all([_destroy(environment, vault_id) for vault_id in ids]):
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
    needles = environment.needles.pop(waits.id, ErasureSamples())
    # Word endings also occur in other names of the catalog; whole samples of text do not.
    needles.terms.clear()
    found = search_files(environment, needles, ids, None, lambda _: False)
    hits = [name for _, name in found.hits]
    return store_receipt(environment, with_search_result(waits, found.samples, (found.files, found.bytes), hits))


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


def _destroy(environment: PurgeEnvironment, vault_id: str) -> bool:
    """Destroy the key and the file of one vault; False while another process has it open."""
    if environment.engine.place_of(vault_id) and not environment.release(vault_id):
        return False
    # Before the key: without its file they would never be found again.
    environment.forget_secrets(vault_id)
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
