"""Purge: erasing for good, in two steps, with a receipt. For the owner and the operator, and never a model's tool."""

import hashlib
import json
from collections.abc import Mapping

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import Conflict, Denied, InvalidInput
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased_lineage, erased_rows, receipts
from recollectum.storage.tables.erased import Departure
from recollectum.storage.tables.erased_items import UnderWay
from recollectum.vault import purge_person
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.purge_backups import CATALOG
from recollectum.vault.purge_ground import Ground, vault_digest
from recollectum.vault.purge_needles import Needles
from recollectum.vault.purge_planning import Selection, plan
from recollectum.vault.purge_request import Preview, PurgeKind, PurgeRequest, Receipt
from recollectum.vault.purge_running import begin, carry_on
from recollectum.vault.purge_settling import finish_vault
from recollectum.vault.purge_tokens import LIFETIME, Leave, from_token, to_token
from recollectum.vault.receipts_signing import from_kept

_CHANGED = "what would be erased has changed since the preview; make it again, and look at it once more"
_SAMPLES = 24


class Purge:
    """Erasing from one vault, or all of one person."""

    def __init__(self, footing: Footing, ground: Ground | None) -> None:
        self._footing = footing
        self._home = ground

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @operation(Permission.WRITE, Scope.USER, reads=True)
    def preview(self, request: PurgeRequest) -> Preview:
        """What a purge would take, and the token that lets it be done within ten minutes; nothing is changed."""
        ground = self._ground()
        if request.kind is PurgeKind.USER:
            return self._preview_person(ground, request)
        found = self._footing.read(lambda tx, reading: plan(tx, request, reading.policy_now))
        return self._preview(ground, request, found.counts, _state_of(found), found)

    @operation(Permission.WRITE, Scope.USER, reads=True)
    def run(self, token: str) -> Receipt:
        """Erase what a preview showed; refused when that has changed since. The receipt says whether it is done."""
        ground = self._ground()
        leave = from_token(token, ground.salt(), caller=self._footing.actor, vault=ground.vault_id, now=ground.clock())
        with ground.lock():
            if leave.request.kind is PurgeKind.USER:
                return self._told(self._run_person(ground, leave))
            purge = self._footing.write(lambda tx, reading: self._begin(tx, reading, leave), frees=True)
            return self._told(carry_on(self._footing, ground, purge))

    @operation(Permission.WRITE, Scope.USER, reads=True)
    def finish(self) -> list[Receipt]:
        """Go on with the purges that wait; the same happens by itself when the vault is opened."""
        return finish_vault(self._footing, self._ground())

    @operation(Permission.READ, Scope.USER)
    def receipts(self) -> list[Receipt]:
        """The receipts of what was erased here, oldest first."""
        ground = self._home
        if ground is None or not ground.has_ledger():
            return []
        vault = vault_digest(ground.salt(), ground.vault_id)
        return [from_kept(one) for one in ground.catalog.read(lambda tx: receipts.everything(tx, vault))]

    def _told(self, receipt: Receipt) -> Receipt:
        told = {"purge": receipt.id, "kind": receipt.kind.value, "state": receipt.state.value, "hits": receipt.hits}
        self._footing.log.info("purge.run", {**told, "files": receipt.files_scanned})
        return receipt

    def _ground(self) -> Ground:
        if not self.gate.own:
            raise Denied(f"{self._footing.actor} may not purge in {self.gate.owner}: that is for its owner alone")
        if self._home is None:
            raise InvalidInput("this vault was opened without a home; open it through one to purge")
        return self._home

    def _begin(self, tx: Tx, reading: Reading, leave: Leave) -> UnderWay:
        found = plan(tx, leave.request, reading.policy_now)
        if _state_of(found) != leave.state:
            raise Conflict(_CHANGED)
        purge = UnderWay(
            id=self._footing.ids("prg"),
            kind=leave.request.kind.value,
            digest=leave.request.digest(),
            by=self._footing.actor,
            at=reading.now,
            state="begun",
            counts=found.counts,
        )
        begin(tx, purge, found)
        return purge

    def _preview(
        self,
        ground: Ground,
        request: PurgeRequest,
        counts: Mapping[str, int],
        state: str,
        found: Selection | None,
        more: tuple[str, ...] = (),
    ) -> Preview:
        expires_at = ground.clock() + LIFETIME
        leave = Leave(request, state, self._footing.actor, ground.vault_id, expires_at)
        backups = ground.backups_of((*more, ground.vault_id))
        return Preview(
            token=to_token(leave, ground.salt()),
            request=request,
            counts=counts,
            memories_derived=found.derived if found else 0,
            memories_kept=len(found.citing) if found else 0,
            backups=tuple(path.relative_to(ground.home.backups).as_posix() for path in backups),
            expires_at=expires_at,
        )

    def _preview_person(self, ground: Ground, request: PurgeRequest) -> Preview:
        counts, state = self._footing.database.read(lambda tx: (erased_lineage.totals(tx), erased_lineage.state(tx)))
        held = {table: count for table, count in counts.items() if count}
        return self._preview(ground, request, held, _digest(list(state)), None, (CATALOG,))

    def _run_person(self, ground: Ground, leave: Leave) -> Receipt:
        owner = self.gate.owner
        if owner is None:
            raise InvalidInput("nobody owns this; there is no person to purge")
        needles = Needles()

        def look(tx: Tx) -> tuple[Mapping[str, int], str]:
            for text in erased_rows.some_texts(tx, _SAMPLES):
                needles.take(text)
            return erased_lineage.totals(tx), _digest(list(erased_lineage.state(tx)))

        counts, state = self._footing.database.read(look)
        if state != leave.state:
            raise Conflict(_CHANGED)
        departure = Departure(
            person=str(owner.person),
            id=self._footing.ids("prg"),
            digest=leave.request.digest(),
            by=self._footing.actor,
            at=ground.clock(),
            vaults=ground.catalog.read(lambda tx: purge_person.vaults_of(tx, owner.person)),
            counts={table: count for table, count in counts.items() if count},
        )
        ground.needles[departure.id] = needles
        purge_person.depart(ground, departure)
        return purge_person.carry_out(ground, departure)


def _state_of(found: Selection) -> str:
    """Of everything that would go: one more message, or one less, makes another."""
    return _digest([[int(rank), item] for rank, item in found.items()], dict(found.counts))


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
