"""Lists the audit events of a vault, newest first."""

import builtins

from recollectum.domain.access.caller import Scope
from recollectum.domain.event import Event, EventType, EventTypeName
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.page import Page, cut_page, number_of
from recollectum.policy.actions import Action
from recollectum.storage.tables.trail import events
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.service import VaultService


class Events(VaultService):
    """The audit events of one vault."""

    @operation(Action.EVENT_READ, Scope.USER)
    def list(self, *, type: EventTypeName | None = None, cursor: str | None = None, limit: int = 50) -> Page[Event]:
        """Return the newest events, all or of one type."""
        wanted = parse_optional_enum(EventType, type, "event type")
        size = check_limit(limit, MAX_PAGE)
        before = number_of(cursor)
        found = self._runtime.read(lambda tx, _: events.page(tx, before=before, type=wanted, limit=size + 1))
        return cut_page(found, size, lambda one: one.number)

    @operation(Action.EVENT_READ, Scope.USER)
    def history(self, subject_id: str) -> builtins.list[Event]:
        """Return all events of one memory or session, oldest first."""
        return self._runtime.read(lambda tx, _: events.of(tx, subject_id))
