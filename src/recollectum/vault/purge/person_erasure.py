"""Erases a whole person: destroys the keys of their vaults, then the files, then their catalog rows."""

import shutil
from collections.abc import Callable
from dataclasses import replace

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Denied, InvalidInput, StorageError
from recollectum.storage.engine import CATALOG
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import people, vaults
from recollectum.storage.tables.erasure import erased, purge_samples
from recollectum.storage.tables.erasure.erased import Departure
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.purge.environment import PurgeEnvironment, owner_digest, sync_ledger, vault_digest
from recollectum.vault.purge.execution import store_receipt, with_search_result
from recollectum.vault.purge.matching import Outline, OutlineKey
from recollectum.vault.purge.request import PurgeKind, PurgeState, Receipt
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.search import search_files
from recollectum.vault.task_store.places import TaskPlaces

_STILL_OPEN = (
    "another process has one of the person's vaults open, or reads the catalog; "
    "close it, then run: recollectum purge finish"
)


def vaults_of(tx: Tx, person: Owner) -> tuple[str, ...]:
    """Return the vaults of a person, each as its id and its owner."""
    return tuple(f"{entry.id} {entry.owner}" for entry in vaults.everything(tx) if entry.owner.person == person)


class PersonErasure:
    """Erases whole people from one home."""

    def __init__(
        self,
        environment: PurgeEnvironment,
        release: Callable[[str], bool],
        forget_secrets: Callable[[str], int],
        tasks: TaskPlaces,
    ) -> None:
        self.environment = environment
        #: Closes a vault in this process; True when no other process has it open either.
        self._release = release
        #: Deletes the secrets that were stored for a vault, and returns how many.
        self._forget_secrets = forget_secrets
        self._tasks = tasks

    def list_task_objects(self, person: Owner) -> list[str]:
        """Return the objects of a person's tasks in every task store that was used."""
        found = self.environment.catalog.read(lambda tx: vaults_of(tx, person))
        return [name for one in found for name in self._tasks.names(one.partition(" ")[0])]

    def begin(self, departure: Departure) -> None:
        """Record that a person is being erased, and lock their vaults from here on."""
        home = self.environment
        outlines = home.needles[departure.id].to_outlines(OutlineKey(home.outline_key(departure.id)))
        forget = _forget_in(home, departure)

        def change(tx: Tx) -> None:
            erased.depart(tx, departure)
            purge_samples.add(tx, departure.id, [(one.bits, one.digest) for one in outlines])
            forget(tx)

        home.catalog.write(change, frees=True)
        sync_ledger(home)

    def run(self, departure: Departure) -> Receipt:
        """Destroy what is left of a person; the receipt says whether that is all."""
        home, ids = self.environment, _ids(departure)
        blank = Receipt(
            id=departure.id,
            kind=PurgeKind.USER,
            state=PurgeState.PENDING,
            request=departure.digest,
            owner=owner_digest(home.salt(), departure.person),
            by=departure.by,
            began_at=departure.at.isoformat(),
            at=home.clock().isoformat(),
            counts=dict(departure.counts),
            backups_destroyed=home.destroy_backups((*ids, CATALOG), change=_forget_in(home, departure)),
            elsewhere=home.places_elsewhere(ids, with_keys=True),
            reason=_STILL_OPEN,
        )
        try:
            for vault_id in ids:
                # Before the keys: with them goes what tells whose tasks they are.
                self._tasks.erase(vault_id)
        except (StorageError, Denied, InvalidInput) as error:
            return store_receipt(home, replace(blank, reason=f"{error}; then run: recollectum purge finish"))
        if not all([self._destroy(vault_id, departure.id) for vault_id in ids]):
            return store_receipt(home, blank)
        for one in departure.vaults:
            folder = owner_folder(home.home.root / "owners", Owner.parse(one.partition(" ")[2]))
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)
        # The receipt first: after an interruption it says that the catalog's log is still to be emptied.
        waits = store_receipt(home, blank)
        home.catalog.write(lambda tx: erased.gone(tx, departure.person), frees=True)
        return self.finish(waits, ids)

    def finish(self, waits: Receipt, ids: tuple[str, ...] = ()) -> Receipt:
        """Empty the catalog's log after everything else of a person is gone, and search every file."""
        home = self.environment
        if not home.catalog.erase_remains():
            return waits
        resumed = waits.id not in home.needles
        needles = _samples_of(home, waits.id)
        # Word endings also occur in other names of the catalog; whole samples of text do not.
        needles.terms.clear()
        found = search_files(home, waits.id, needles, ids, None, lambda _, __: False)
        is_lost = not len(needles) and (resumed or needles.short > 0)
        kept = store_receipt(home, with_search_result(waits, found, is_lost=is_lost))
        if kept.state is PurgeState.DONE:
            home.catalog.write(lambda tx: purge_samples.remove(tx, waits.id), frees=True)
            home.needles.pop(waits.id, None)
        return kept

    def forget_returned_people(self) -> int:
        """Delete the people from the catalog who were erased and came back with an older one; return how many."""
        home = self.environment
        salt = home.salt()

        def returned(tx: Tx) -> dict[Owner, list[str]]:
            found: dict[Owner, list[str]] = {}
            for entry in vaults.everything(tx):
                digest = vault_digest(salt, entry.id)
                if erased.is_noted(tx, digest, digest):
                    found.setdefault(entry.owner.person, []).append(entry.id)
            return found

        def change(tx: Tx) -> int:
            back = returned(tx)
            for person, ids in back.items():
                erased.strike(tx, str(person), ids)
                if not vaults_of(tx, person):
                    people.remove(tx, person)
            return len(back)

        return home.catalog.write(change, frees=True) if home.catalog.read(returned) else 0

    def destroy_returned_vaults(self) -> int:
        """Destroy the files of vaults that were erased as a whole and restored since; return how many."""
        home = self.environment
        known = {entry.id for entry in home.catalog.read(vaults.everything)}
        salt, removed = home.salt(), 0
        for vault_id in home.engine.vault_ids():
            digest = vault_digest(salt, vault_id)
            if vault_id not in known and home.catalog.read(lambda tx, d=digest: erased.is_noted(tx, d, d)):
                home.engine.destroy_vault(vault_id)
                removed += 1
        return removed

    def _destroy(self, vault_id: str, departure_id: str) -> bool:
        """Destroy the key and the file of one vault; False while another process has it open."""
        home = self.environment
        if home.engine.place_of(vault_id) and not self._release(vault_id):
            return False
        # Before the key: without its file they would never be found again.
        self._forget_secrets(vault_id)
        if departure_id in home.needles and home.keys.has_key(vault_id):
            home.needles[departure_id].keys.append(home.keys.key(vault_id))
        home.engine.destroy_vault(vault_id, lambda: home.keys.destroy_key(vault_id))
        return True


def _forget_in(environment: PurgeEnvironment, departure: Departure) -> Callable[[Tx], None]:
    """Return what deletes a person from a catalog, and records there that their vaults were erased."""
    salt = environment.salt()

    def change(tx: Tx) -> None:
        environment.keep_salt(tx, salt)
        for vault_id in _ids(departure):
            erased.add(tx, vault_digest(salt, vault_id), [vault_digest(salt, vault_id)], departure.at)
        erased.strike(tx, departure.person, _ids(departure))
        people.remove(tx, Owner.parse(departure.person))

    return change


def _samples_of(environment: PurgeEnvironment, purge_id: str) -> ErasureSamples:
    """Return the samples that this process took, or what an earlier one kept of them."""
    known = environment.needles.get(purge_id)
    if known is None:
        kept = environment.catalog.read(lambda tx: purge_samples.of(tx, purge_id))
        known = ErasureSamples(outlines=[Outline(bits=bits, digest=digest) for bits, digest in kept])
    return known


def _ids(departure: Departure) -> tuple[str, ...]:
    return tuple(one.partition(" ")[0] for one in departure.vaults)
