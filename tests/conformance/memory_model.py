"""What memories should do, as a plain dict: the rules of the pages, without a database."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

ACTIVE, ARCHIVED, DELETED, PENDING = "active", "archived", "soft_deleted", "hard_delete_pending"
LIVE = (ACTIVE, ARCHIVED)
_ACTIVE_FOR = timedelta(days=90)
_ARCHIVED_FOR = timedelta(days=60)
_GRACE = timedelta(days=7)


class Unsettled(Exception):
    """The pages do not say what should happen here; see tests/matrix/test_findings.py."""


@dataclass
class Record:
    """One memory."""

    content: str
    key: str | None
    order: int = 0
    state: str = ACTIVE
    version: int = 1
    expires: datetime | None = None
    archive: datetime | None = None
    retention: datetime | None = None
    destroy: datetime | None = None
    superseded: bool = False
    #: Whether it says from when it is true, as what supersedes another does.
    dated: bool = False

    @property
    def says(self) -> str:
        """What two texts have in common that say the same."""
        return self.content.casefold().strip("!")

    def due(self, now: datetime) -> str | None:
        """The state it is due to enter."""
        if self.state in LIVE and self.expires and self.expires <= now:
            return DELETED
        if self.state == ACTIVE and self.archive and self.archive <= now:
            return ARCHIVED
        if self.state in LIVE and self.retention and self.retention <= now:
            return DELETED
        if self.state == DELETED and self.destroy and self.destroy <= now:
            return PENDING
        return None

    def seen(self, now: datetime) -> str:
        """The state a reader sees, swept or not."""
        kept, state = self.state, self.state
        while step := self.due(now):
            self.state = state = step
        self.state = kept
        return state

    def enter(self, state: str, now: datetime) -> None:
        """Change the state and set the times that follow from it."""
        if state == ACTIVE:
            self.archive, self.retention, self.destroy = now + _ACTIVE_FOR, now + _ACTIVE_FOR + _ARCHIVED_FOR, None
        elif state == ARCHIVED and not (self.archive and self.archive <= now):
            # By hand. What enters the archive in its time keeps the deadline it had.
            self.archive, self.retention = now, now + _ARCHIVED_FOR
        elif state == DELETED:
            self.destroy = now + _GRACE
        self.state = state


class Model:
    """The memories of one vault. A change tells the outcome: an id, or the name of the error."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self._made = 0

    def sweep(self, now: datetime) -> None:
        """Take every step that is due."""
        for id_, record in list(self.records.items()):
            while step := record.due(now):
                record.enter(step, now)
            if record.state == PENDING:
                del self.records[id_]

    def seen(self, state: str, now: datetime) -> set[str]:
        """The ids a reader sees in a state."""
        return {id_ for id_, record in self.records.items() if record.seen(now) == state}

    def held(self, key: str) -> tuple[str, Record] | None:
        """The live memory that holds a key: the active one, else the newest of the archived."""
        holders = [one for one in self._live() if one[1].key == key]
        return min(holders, key=lambda one: (one[1].state, -one[1].order), default=None)

    def save(self, content: str, key: str | None, expires: datetime | None, now: datetime) -> str | None:
        """The id of the memory that is renewed or replaced; None for a new one, which `add` then takes."""
        draft = Record(content, key)
        if any(one.dated and one.says == draft.says for _, one in self._live()):
            raise Unsettled
        holder = self.held(key) if key else None
        twins = sorted(
            (one for one in self._live() if one[1].says == draft.says and (key is None or one[1].key in (None, key))),
            key=lambda one: -one[1].order,
        )
        twin = holder if holder and holder[1].says == draft.says else next(iter(twins), None)
        if twin and (holder is None or holder[0] == twin[0]):
            id_, record = twin
            self._check_free(record.key, id_)
            record.key = record.key or key
            record.expires = max(record.expires, expires) if record.expires and expires else None
            record.enter(ACTIVE, now)
            return id_
        if holder:
            id_, record = holder
            record.content, record.expires, record.version, record.dated = content, expires, record.version + 1, False
            record.enter(ACTIVE, now)
            return id_
        return None

    def add(self, id_: str, draft: Record, now: datetime) -> None:
        """A new memory."""
        self._made += 1
        self.records[id_] = replace(draft, order=self._made)
        self.records[id_].enter(ACTIVE, now)

    def edit(self, id_: str, content: str) -> str:
        """Change what is active."""
        record = self.records.get(id_)
        if record is None or record.state not in LIVE:
            return "NotFound"
        if record.state == ARCHIVED:
            return "StepRefused"
        record.content, record.version = content, record.version + 1
        return id_

    def supersede(self, id_: str, now: datetime) -> str:
        """End what is live; the caller then adds what is true instead."""
        record = self.records.get(id_)
        if record is None or record.state not in LIVE:
            return "NotFound"
        if record.superseded:
            return "Conflict"
        self._check_free(record.key, id_)
        record.superseded, record.version = True, record.version + 1
        if record.state == ACTIVE:
            record.enter(ARCHIVED, now)
        return id_

    def move(self, id_: str, state: str, now: datetime) -> str:
        """Archive or delete."""
        record = self.records.get(id_)
        if record is None:
            return "NotFound"
        if record.state == DELETED and state == ARCHIVED:
            return "StepRefused"
        if record.state != state:
            record.enter(state, now)
        return id_

    def restore(self, id_: str, now: datetime) -> str:
        """Bring back what is archived or in the trash."""
        record = self.records.get(id_)
        if record is None:
            return "NotFound"
        if record.state == ACTIVE:
            return id_
        if record.superseded:
            return "StepRefused"
        if any(other.key == record.key and other.state == ACTIVE for _, other in self._live() if record.key):
            return "Conflict"
        if any(other.key == record.key and other is not record for _, other in self._live() if record.key):
            raise Unsettled
        if record.expires and record.expires <= now:
            record.expires = None
        record.enter(ACTIVE, now)
        return id_

    def _live(self) -> list[tuple[str, Record]]:
        return [one for one in self.records.items() if one[1].state in LIVE and not one[1].superseded]

    def _check_free(self, key: str | None, id_: str) -> None:
        if key and any(other.key == key and one != id_ and other.state == ACTIVE for one, other in self._live()):
            raise Unsettled
