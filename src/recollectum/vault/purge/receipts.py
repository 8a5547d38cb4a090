"""Lists and verifies the purge receipts of a home."""

import builtins
import json
from typing import Any, cast

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.policy.actions import Action
from recollectum.storage.tables.erasure import receipts
from recollectum.vault.gate import Gate, operation
from recollectum.vault.purge.person_erasure import PersonErasure
from recollectum.vault.purge.request import Receipt
from recollectum.vault.purge.resume import resume_home_purges, search_home_again
from recollectum.vault.purge.signatures import from_json, from_stored, is_genuine, public_key


class Receipts:
    """The purge receipts of one home."""

    def __init__(self, gate: Gate, erasure: PersonErasure) -> None:
        self._catalog = erasure.environment.catalog
        self._gate = gate
        self._erasure = erasure

    @property
    def gate(self) -> Gate:
        """The gate that checks every operation."""
        return self._gate

    @operation(Action.RECEIPT_READ, Scope.GLOBAL)
    def list(self) -> builtins.list[Receipt]:
        """Return every receipt, oldest first."""
        return [from_stored(one) for one in self._catalog.read(receipts.everything)]

    @operation(Action.RECEIPT_READ, Scope.GLOBAL)
    def get(self, receipt_id: str) -> Receipt:
        """Return the receipt with that id."""
        kept = self._catalog.read(lambda tx: receipts.find(tx, receipt_id))
        if kept is None:
            raise NotFound(f"there is no receipt {receipt_id!r} in this home")
        return from_stored(kept)

    @operation(Action.RECEIPT_READ, Scope.GLOBAL)
    def key(self) -> str:
        """Return the public key that verifies this home's receipts, in hex; give it to anyone who checks them."""
        return public_key(self._erasure.environment.seed())

    @operation(Action.RECEIPT_READ, Scope.GLOBAL)
    def verify(self, receipt: Receipt) -> bool:
        """Return whether this home signed the receipt and no field was changed since."""
        return is_genuine(receipt, public_key(self._erasure.environment.seed()))

    @operation(Action.RECEIPT_READ, Scope.GLOBAL)
    def parse(self, text: str) -> Receipt:
        """Parse a receipt from its JSON text, as `recollectum purge receipts show --json` writes it."""
        try:
            given = json.loads(text)
        except ValueError:
            raise InvalidInput("that is not JSON; give a receipt as it was exported") from None
        if not isinstance(given, dict):
            raise InvalidInput("that is not a receipt; give one as it was exported")
        whole = cast("dict[str, Any]", given)
        inner = whole.get("receipt", whole)
        if not isinstance(inner, dict):
            raise InvalidInput("that is not a receipt; give one as it was exported")
        return from_json(cast("dict[str, Any]", inner))

    @operation(Action.PURGE_RUN, Scope.GLOBAL, also=(Action.MEMORY_DELETE, Action.SESSION_DELETE))
    def finish(self) -> builtins.list[Receipt]:
        """Continue to erase people whose purge had to wait, and search again where a receipt is not done."""
        done = resume_home_purges(self._erasure)
        known = {one.id for one in done}
        return [*done, *(one for one in search_home_again(self._erasure) if one.id not in known)]
