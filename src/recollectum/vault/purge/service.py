"""Previews and runs purges, which erase for good and leave a signed receipt."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, Denied, InvalidInput, KeyProblem, StorageError
from recollectum.domain.ids import Clock
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.index import waiting
from recollectum.storage.port import Tx
from recollectum.storage.tables.erasure import erased_lineage, erased_rows, receipts
from recollectum.storage.tables.erasure.erased import Departure
from recollectum.storage.tables.erasure.erased_items import ActivePurge
from recollectum.vault.gate import operation
from recollectum.vault.purge.backups import CATALOG
from recollectum.vault.purge.environment import PurgeEnvironment, check_keys, unreadable_copies, vault_digest
from recollectum.vault.purge.execution import begin_purge, place_names, run_purge
from recollectum.vault.purge.person_erasure import PersonErasure, vaults_of
from recollectum.vault.purge.plan import PurgeSelection, plan_purge, where_words_remain
from recollectum.vault.purge.request import (
    TOKEN_LIFETIME,
    Preview,
    PurgeClaims,
    PurgeKind,
    PurgeRequest,
    Receipt,
    from_token,
    to_token,
)
from recollectum.vault.purge.resume import finish_vault_purges, search_vault_again
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.signatures import from_stored
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

_CHANGED = "what would be erased has changed since the preview; make a new preview, and check it"
_SAMPLES = 24
_ALSO = (Action.MEMORY_DELETE, Action.SESSION_DELETE, Action.STATE_DELETE)


class Purge(VaultService):
    """Erases data from one vault, or a whole person."""

    def __init__(self, runtime: VaultRuntime, erasure: PersonErasure, latest: Clock) -> None:
        super().__init__(runtime)
        self._erasure = erasure
        #: The latest time that the home has seen, which decides whether a token is too old.
        self._latest = latest

    @operation(Action.PURGE_RUN, Scope.USER, reads=True)
    def preview(self, request: PurgeRequest) -> Preview:
        """Return what a purge would erase, and the token that confirms it within ten minutes; change nothing."""
        environment = self._ground()
        # What waits for the index belongs to the counts. A full disk, on which a purge frees space, has it wait.
        with suppress(StorageError):
            waiting.index_all(self._runtime.database)
        if request.kind is PurgeKind.USER:
            return self._preview_person(environment, request)
        if request.shred and not environment.keys.has_key(self._runtime.vault.id):
            raise KeyProblem("this vault is not encrypted, so it has no key to destroy; purge without shredding")

        def look(tx: Tx, reading: ClockReading) -> tuple[PurgeSelection, list[tuple[str, str]]]:
            selection = plan_purge(tx, request, reading.policy_now)
            return selection, where_words_remain(tx, selection)

        found, remaining = self._runtime.read(look)
        seen = self._preview(environment, request, found.counts, _state_of(found), (self._runtime.vault.id,))
        return replace(
            seen,
            memories_derived=found.derived,
            memories_kept=len(found.citing),
            excused=len(remaining),
            remaining=place_names(remaining),
        )

    @operation(Action.PURGE_RUN, Scope.USER, reads=True, also=_ALSO)
    def run(self, token: str) -> Receipt:
        """Erase what a preview showed; refuse when that has changed since. The receipt says whether it is done."""
        environment = self._ground()
        leave = from_token(
            token,
            environment.salt(),
            caller=self._runtime.actor,
            vault=self._runtime.vault.id,
            now=ClockReading(environment.clock(), self._latest()),
        )
        check_keys(environment)
        with environment.lock(self._runtime.vault.id):
            if leave.request.kind is PurgeKind.USER:
                return self._told(self._run_person(environment, leave))
            purge = self._runtime.write(lambda tx, reading: self._begin(tx, reading, leave), frees=True)
            return self._told(run_purge(self._runtime, environment, purge))

    @operation(Action.PURGE_RUN, Scope.USER, reads=True, also=_ALSO)
    def finish(self) -> list[Receipt]:
        """Continue the waiting purges, and search again for those that are unverified or failed."""
        environment = self._ground()
        done = finish_vault_purges(self._runtime, environment)
        known = {one.id for one in done}
        again = search_vault_again(self._runtime, environment)
        return [*done, *(one for one in again if one.id not in known)]

    @operation(Action.RECEIPT_READ, Scope.USER)
    def list_receipts(self) -> list[Receipt]:
        """Return the receipts of this vault's purges, oldest first."""
        environment = self._erasure.environment
        if not environment.has_ledger():
            return []
        vault = vault_digest(environment.salt(), self._runtime.vault.id)
        return [from_stored(one) for one in environment.catalog.read(lambda tx: receipts.everything(tx, vault))]

    def _told(self, receipt: Receipt) -> Receipt:
        told = {"purge": receipt.id, "kind": receipt.kind.value, "state": receipt.state.value, "hits": receipt.hits}
        self._runtime.log.info("purge.run", {**told, "files": receipt.files_scanned})
        return receipt

    def _ground(self) -> PurgeEnvironment:
        if not self.gate.own:
            raise Denied(f"{self._runtime.actor} may not purge in {self.gate.owner}: only its owner may")
        return self._erasure.environment

    def _begin(self, tx: Tx, reading: ClockReading, leave: PurgeClaims) -> ActivePurge:
        found = plan_purge(tx, leave.request, reading.policy_now)
        if _state_of(found) != leave.state:
            raise Conflict(_CHANGED)
        purge = ActivePurge(
            id=self._runtime.ids("prg"),
            kind=leave.request.kind.value,
            digest=leave.request.digest(),
            by=self._runtime.actor,
            at=reading.now,
            state="begun",
            counts=found.counts,
            shred=leave.request.shred,
        )
        begin_purge(tx, purge, found)
        return purge

    def _preview(
        self,
        environment: PurgeEnvironment,
        request: PurgeRequest,
        counts: Mapping[str, int],
        state: str,
        vault_ids: tuple[str, ...],
    ) -> Preview:
        made_at, latest = environment.clock(), self._latest()
        leave = PurgeClaims(request, state, self._runtime.actor, self._runtime.vault.id, made_at, latest)
        backups = environment.backups_of(vault_ids)
        with_keys = request.shred or request.kind is PurgeKind.USER
        return Preview(
            token=to_token(leave, environment.salt()),
            request=request,
            counts=counts,
            memories_derived=0,
            memories_kept=0,
            elsewhere=environment.places_elsewhere(vault_ids, with_keys=with_keys),
            unreadable=unreadable_copies(environment) if with_keys else (),
            backups=tuple(path.relative_to(environment.home.backups).as_posix() for path in backups),
            expires_at=made_at + TOKEN_LIFETIME,
        )

    def _preview_person(self, environment: PurgeEnvironment, request: PurgeRequest) -> Preview:
        counts, state = self._runtime.database.read(lambda tx: (erased_lineage.totals(tx), erased_lineage.state(tx)))
        owner = self.gate.owner
        tasks = self._erasure.list_task_objects(owner.person) if owner else []
        held = _with_tasks(counts, tasks)
        mine = environment.catalog.read(lambda tx: vaults_of(tx, owner.person)) if owner else ()
        ids = tuple(dict.fromkeys((self._runtime.vault.id, *(one.partition(" ")[0] for one in mine))))
        return self._preview(environment, request, held, _digest(list(state), tasks), (CATALOG, *ids))

    def _run_person(self, environment: PurgeEnvironment, leave: PurgeClaims) -> Receipt:
        owner = self.gate.owner
        if owner is None:
            raise InvalidInput("this vault has no owner, so there is no person to purge")
        needles = ErasureSamples()
        tasks = self._erasure.list_task_objects(owner.person)

        def look(tx: Tx) -> tuple[Mapping[str, int], str]:
            for text in erased_rows.some_texts(tx, _SAMPLES):
                needles.take(text)
            return erased_lineage.totals(tx), _digest(list(erased_lineage.state(tx)), tasks)

        counts, state = self._runtime.database.read(look)
        if state != leave.state:
            raise Conflict(_CHANGED)
        departure = Departure(
            person=str(owner.person),
            id=self._runtime.ids("prg"),
            digest=leave.request.digest(),
            by=self._runtime.actor,
            at=environment.clock(),
            vaults=environment.catalog.read(lambda tx: vaults_of(tx, owner.person)),
            counts=_with_tasks(counts, tasks),
        )
        environment.needles[departure.id] = needles
        self._erasure.begin(departure)
        return self._erasure.run(departure)


def _with_tasks(counts: Mapping[str, int], objects: Sequence[str]) -> dict[str, int]:
    """Return the tables that have rows, and the number of tasks, whose objects are `STORE VAULT/tasks/TASK/…`."""
    tasks = {name.rpartition("/")[0] for name in objects if name.endswith(".task")}
    return {table: count for table, count in {**counts, "tasks": len(tasks)}.items() if count}


def _state_of(found: PurgeSelection) -> str:
    """Return a digest of everything that would be erased: one message more or less changes it."""
    return _digest([[int(rank), item] for rank, item in found.items()], dict(found.counts))


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
