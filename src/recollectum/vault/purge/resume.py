"""Resumes interrupted purges when a vault or home is opened, and erases again what an older copy brought back."""

from contextlib import suppress
from datetime import timedelta

from recollectum.domain.errors import HomeError, StorageError
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.erasure import erased, erased_items, erased_lineage, receipts
from recollectum.storage.tables.erasure.erased_items import ActivePurge
from recollectum.storage.tables.trail import meta
from recollectum.storage.tables.trail.health import LEDGER_POSITION
from recollectum.vault.purge.environment import PurgeEnvironment, ledger_digest, vault_digest
from recollectum.vault.purge.execution import begin_purge, run_purge, search_again
from recollectum.vault.purge.person_erasure import PersonErasure
from recollectum.vault.purge.plan import NamedRows, PurgeSelection, select_lineage
from recollectum.vault.purge.request import PurgeKind, PurgeRequest, Receipt
from recollectum.vault.purge.signatures import from_stored
from recollectum.vault.runtime import VaultRuntime

#: The actor that erases restored data again.
LEDGER = "ledger"


def resume_vault_purges(runtime: VaultRuntime, environment: PurgeEnvironment) -> None:
    """Finish open purges in a vault that was just opened; it is not served before restored data is erased again."""
    if not environment.has_ledger():
        return
    if _is_behind(runtime, environment):
        with environment.lock(runtime.vault.id):
            _erase_returned_rows(runtime, environment)
    # A disk that takes no writes must not prevent reading: the purge waits.
    with suppress(StorageError, HomeError):
        finish_vault_purges(runtime, environment)


def finish_vault_purges(runtime: VaultRuntime, environment: PurgeEnvironment) -> list[Receipt]:
    """Continue every unfinished purge, unless another process is running it."""
    if not runtime.database.read(erased_items.unfinished):
        return []
    lock = environment.lock(runtime.vault.id)
    if not lock.wait(timedelta()):
        return []
    try:
        waiting = runtime.database.read(erased_items.unfinished)
        return [run_purge(runtime, environment, one, resumed=True) for one in waiting]
    finally:
        lock.release()


def search_vault_again(runtime: VaultRuntime, environment: PurgeEnvironment) -> list[Receipt]:
    """Search again for what purges erased whose receipts are unverified or failed, and renew those receipts."""
    if not runtime.database.read(erased_items.unproven):
        return []
    lock = environment.lock(runtime.vault.id)
    if not lock.wait(timedelta()):
        return []
    try:
        found = [search_again(runtime, environment, one) for one in runtime.database.read(erased_items.unproven)]
    finally:
        lock.release()
    return [one for one in found if one]


def resume_home_purges(erasure: PersonErasure) -> list[Receipt]:
    """Finish erasing people whose purge was interrupted, and destroy vaults of theirs that were restored."""
    environment = erasure.environment
    if not environment.has_ledger():
        return []
    erasure.forget_returned_people()
    erasure.destroy_returned_vaults()
    done = [erasure.run(one) for one in environment.catalog.read(erased.departures)]
    known = {one.id for one in done}
    waiting = [from_stored(one) for one in environment.catalog.read(receipts.pending) if one.id not in known]
    # Only purges of people: those of a vault continue when it is opened.
    return [*done, *(erasure.finish(one) for one in waiting if one.kind is PurgeKind.USER)]


def search_home_again(erasure: PersonErasure) -> list[Receipt]:
    """Search again for what is left of erased people whose receipts are unverified or failed."""
    waiting = erasure.environment.catalog.read(receipts.unproven)
    return [erasure.finish(from_stored(one)) for one in waiting]


def _is_behind(runtime: VaultRuntime, environment: PurgeEnvironment) -> bool:
    vault = vault_digest(environment.salt(), runtime.vault.id)
    last = environment.catalog.read(lambda tx: erased.last(tx, vault))
    return last > int(runtime.database.read(lambda tx: meta.find(tx, LEDGER_POSITION)) or 0) and not _has_open_purge(
        runtime
    )


def _has_open_purge(runtime: VaultRuntime) -> bool:
    """Return whether the vault itself has the purge, which then only has to continue."""
    return bool(runtime.database.read(erased_items.unfinished))


def _erase_returned_rows(runtime: VaultRuntime, environment: PurgeEnvironment) -> None:
    salt, vault_id = environment.salt(), runtime.vault.id
    vault = vault_digest(salt, vault_id)
    noted, last = environment.catalog.read(lambda tx: (erased.of(tx, vault), erased.last(tx, vault)))

    def change(tx: Tx, reading: ClockReading) -> ActivePurge | None:
        back = {
            what: frozenset(one for one in ids if ledger_digest(salt, vault_id, what, one) in noted)
            for what, ids in erased_lineage.all_ids(tx).items()
        }
        if not any(back.values()):
            meta.save(tx, LEDGER_POSITION, str(last))
            return None
        selection = select_lineage(tx, _named(back))
        purge = _purge(runtime, selection, reading)
        begin_purge(tx, purge, selection)
        return purge

    purge = runtime.write(change, frees=True)
    if purge:
        run_purge(runtime, environment, purge)


def _named(back: dict[str, frozenset[str]]) -> NamedRows:
    return NamedRows(
        sessions=back["session"],
        messages=back["message"],
        memories=back["memory"],
        folders=back["folder"],
        roots=back["root"],
        commands=back["command"],
    )


def _purge(runtime: VaultRuntime, selection: PurgeSelection, reading: ClockReading) -> ActivePurge:
    return ActivePurge(
        id=runtime.ids("prg"),
        kind=PurgeKind.RESTORED.value,
        digest=PurgeRequest(kind=PurgeKind.RESTORED).digest(),
        by=LEDGER,
        at=reading.now,
        state="begun",
        counts=selection.counts,
    )
