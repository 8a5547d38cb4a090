"""Decides whether the files of a vault are this host's: another host's missing or older file says nothing."""

from recollectum.domain.errors import Conflict
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.identity.host import Host, this_host
from recollectum.home.paths import Home
from recollectum.storage.engine import Engine
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import hosts

_TAKE = "`recollectum daemon hosts take`"


@dataclass(frozen=True, slots=True)
class SharedHosts:
    """This host among those that use the same database."""

    here: Host
    catalog: Database
    clock: Clock

    def register(self, tx: Tx) -> None:
        """Store the name of this host, and that it was seen now."""
        hosts.save(tx, self.here.id, self.here.name, self.clock())


def shared_hosts(home: Home, engine: Engine, catalog: Database, clock: Clock) -> SharedHosts | None:
    """Return this host among those that use the same database; None where the vaults are files of this host."""
    # A catalog that counts the writes of the vaults is a server's, which other hosts may use too.
    return SharedHosts(this_host(home), catalog, clock) if engine.counts_writes else None


@dataclass(frozen=True, slots=True)
class FileHost:
    """The host of one vault's files: notes, transcripts and LEARNINGS.md. Without other hosts they are here."""

    vault_id: str
    shared: SharedHosts | None = None

    @property
    def here(self) -> str | None:
        """Return the id of this host; None where there are no others."""
        return self.shared.here.id if self.shared else None

    def elsewhere(self, *, found: bool = True) -> str | None:
        """Return the name of the other host that keeps the files; None when this one may read and write them.

        When nobody keeps them and some were `found` here, this host keeps them from now on.
        """
        shared = self.shared
        if shared is None:
            return None
        keeper, name = shared.catalog.read(self._look_up)
        if keeper is None and found:
            keeper, name = shared.catalog.write(self._attach)
        return None if keeper in (None, shared.here.id) else name

    def check_here(self, what: str) -> None:
        """Raise unless this host keeps the files, or nobody does, in which case it keeps them from now on."""
        other = self.elsewhere()
        if other is not None:
            raise Conflict(
                f"the files of this vault are kept by the host {other}, so {what} cannot be followed here; "
                f"follow it there, or take the files over with {_TAKE}"
            )

    def take_over(self) -> str | None:
        """Keep the files from now on; return the name of the host that kept them before, if another one did."""
        shared = self.shared
        if shared is None:
            return None

        def change(tx: Tx) -> str | None:
            keeper, name = self._look_up(tx)
            shared.register(tx)
            hosts.take_over(tx, self.vault_id, shared.here.id)
            return None if keeper in (None, shared.here.id) else name

        return shared.catalog.write(change)

    def _look_up(self, tx: Tx) -> tuple[str | None, str | None]:
        keeper = hosts.keeper(tx, self.vault_id)
        return keeper, None if keeper is None else hosts.name_of(tx, keeper)

    def _attach(self, tx: Tx) -> tuple[str | None, str | None]:
        if self.shared:
            self.shared.register(tx)
            hosts.attach(tx, self.vault_id, self.shared.here.id)
        return self._look_up(tx)
