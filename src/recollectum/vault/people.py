"""People: who has a vault here, under which channel addresses, in which tenant."""

from collections.abc import Mapping

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.identity import Identity
from recollectum.domain.ids import Clock, IdMaker
from recollectum.domain.names import check_name
from recollectum.domain.owner import Owner
from recollectum.domain.person import DEFAULT_TENANT, Merge, MergePreview, Person, Tenant
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables import merges, people
from recollectum.vault import people_merging
from recollectum.vault.gate import Gate, operation

_ADMIN = operation(Permission.ADMIN, Scope.GLOBAL)
_PERIODS = ("active", "archive", "grace")
_MOST_DAYS = 36_500


class People:
    """The catalog's people; for the operator of the home."""

    def __init__(self, catalog: Database, gate: Gate, clock: Clock) -> None:
        self._catalog = catalog
        self._gate = gate
        self._clock = clock
        self._ids = IdMaker(clock)

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._gate

    @_ADMIN
    def add(self, owner: str | Owner, *, tenant: str = DEFAULT_TENANT) -> Person:
        """Add a person; a name that is taken, or looks like one that is, is refused."""
        person = Person(owner=_person(owner), tenant=tenant, created_at=self._clock())

        def change(tx: Tx) -> Person:
            ensure_tenant(tx, tenant, self._clock)
            people.add(tx, person)
            return person

        return self._catalog.write(change)

    @_ADMIN
    def get(self, owner: str | Owner) -> Person:
        """The person of that name."""
        wanted = _person(owner)
        return self._catalog.read(lambda tx: _existing(tx, wanted))

    @_ADMIN
    def all(self) -> list[Person]:
        """Everybody, by name."""
        return self._catalog.read(people.everyone)

    @_ADMIN
    def link(self, owner: str | Owner, identity: str) -> Person:
        """Give a person a channel address, such as telegram:42; an address belongs to one person only."""
        wanted, address = _person(owner), Identity.parse(identity)

        def change(tx: Tx) -> Person:
            _existing(tx, wanted)
            people_merging.check_unmerged(tx, wanted)
            people.link(tx, address, wanted)
            return _existing(tx, wanted)

        return self._catalog.write(change)

    @_ADMIN
    def unlink(self, owner: str | Owner, identity: str) -> Person:
        """Take a channel address from a person."""
        wanted, address = _person(owner), Identity.parse(identity)

        def change(tx: Tx) -> Person:
            if not people.unlink(tx, address, wanted):
                raise NotFound(f"{wanted} has no such {address.channel} identity")
            return _existing(tx, wanted)

        return self._catalog.write(change)

    @_ADMIN
    def find(self, identity: str) -> Owner | None:
        """Whose channel address that is, or None."""
        address = Identity.parse(identity)
        return self._catalog.read(lambda tx: people.owner_of(tx, address))

    @_ADMIN
    def merge_preview(self, kept: str | Owner, merged: str | Owner) -> MergePreview:
        """What merging the second person into the first would move, and what becomes of their vaults."""
        one, other = _person(kept), _person(merged)
        return self._catalog.read(lambda tx: people_merging.preview(tx, one, other))

    @_ADMIN
    def merge(self, kept: str | Owner, merged: str | Owner, token: str) -> Merge:
        """Make two people one, as the preview said whose token this is: all at once, or not at all.

        Only the operator may: a person's own key proves who they are, but not that somebody else is the same.
        """
        agreed = (_person(kept), _person(merged), token)
        return self._catalog.write(
            lambda tx: people_merging.apply(tx, agreed, self._ids("mrg"), self._clock(), self.gate.caller.name)
        )

    @_ADMIN
    def unmerge(self, merge_id: str) -> Merge:
        """Undo a merge: everything it moved goes back, except what was taken away since."""
        return self._catalog.write(lambda tx: people_merging.undo(tx, merge_id, self._clock(), self.gate.caller.name))

    @_ADMIN
    def merges(self) -> list[Merge]:
        """Who was merged into whom, when and by whom, oldest first; what was undone says so."""
        return self._catalog.read(merges.everything)

    @_ADMIN
    def tenants(self) -> list[Tenant]:
        """All tenants, by name."""
        return self._catalog.read(people.tenants)

    @_ADMIN
    def save_tenant(self, name: str, retention_days: Mapping[str, int]) -> Tenant:
        """Add a tenant or change how long its memories rest: days for active, archive and grace."""
        for period, days in retention_days.items():
            if period not in _PERIODS or not 0 <= days <= _MOST_DAYS:
                raise InvalidInput(
                    f"retention {period}={days} is not allowed; use {', '.join(_PERIODS)} with 0 to {_MOST_DAYS} days"
                )
        tenant = Tenant(name=check_name(name, "tenant"), created_at=self._clock(), retention_days=dict(retention_days))
        self._catalog.write(lambda tx: people.save_tenant(tx, tenant))
        return tenant


def ensure_tenant(tx: Tx, name: str, clock: Clock) -> None:
    """The default tenant is made when it is first needed; another must be there."""
    if people.find_tenant(tx, name):
        return
    if name != DEFAULT_TENANT:
        raise NotFound(f"there is no tenant {name!r}; make it first")
    people.save_tenant(tx, Tenant(name=name, created_at=clock(), retention_days={}))


def _person(owner: str | Owner) -> Owner:
    parsed = owner if isinstance(owner, Owner) else Owner.parse(owner)
    return parsed.person


def _existing(tx: Tx, owner: Owner) -> Person:
    person = people.find(tx, owner)
    if person is None:
        raise NotFound(f"there is no {owner.kind} {owner.name!r} in this home; add it first")
    return person
