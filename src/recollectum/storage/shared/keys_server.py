"""Keeps the wrapped keys and the erasure ledger of a home in a database, where every host reads and writes them.

It is a database with the same schema as that of the vaults, and has no vaults: the keys are in tables of its catalog.
The master key that wraps them is with each host, and never there.
"""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from recollectum.domain.errors import KeyProblem, KeyStoreMissing, SettingsError
from recollectum.domain.ids import Clock, IdMaker
from recollectum.home.database_mark import mark_keys
from recollectum.home.identity.host import this_host
from recollectum.home.locks import Lock
from recollectum.home.paths import Home, prepare
from recollectum.settings.storage import StorageSettings
from recollectum.storage.engine import ServerFinding, VaultCopy
from recollectum.storage.key_tables import find_holder, name_home
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.connections.address import KEYS
from recollectum.storage.postgres.database import PostgresDatabase
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.postgres.operations.identity import is_same_database, is_same_server
from recollectum.storage.postgres.transaction import PostgresTx, make_durable
from recollectum.storage.shared.key_rows import read_rows
from recollectum.storage.shared.keys_file import write_keys_file
from recollectum.storage.shared.shared_lock import SharedLock
from recollectum.storage.sqlite.files import KEYS_FILE

T = TypeVar("T")
#: Keys are asked for when a vault is opened: few connections are enough.
_CONNECTIONS = 4


class KeysServer:
    """The keys database of one home; see `KeyPlace`."""

    name = "the keys database"
    is_shared = True

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        #: Those of the database of the vaults.
        self._rows = settings
        most = min(settings.connections, _CONNECTIONS)
        own = replace(settings, url=settings.keys_url, replica_url="", connections=most)
        self._engine = PostgresEngine(home, own, clock, KEYS)
        self._database: PostgresDatabase | None = None
        self._has_keys = False

    @property
    def words(self) -> str:
        """Return the address without its password."""
        return self._engine.place_of_catalog

    @property
    def host(self) -> str:
        """Return the id of this home."""
        prepare(self._home)
        return this_host(self._home).id

    @property
    def is_open(self) -> bool:
        """Return whether there are keys."""
        return self._has_keys

    def open(self) -> bool:
        """Connect, and return whether there are keys and their holder is set."""
        self._has_keys = self._connected().read(lambda tx: find_holder(tx, self.words)) is not None
        if self._has_keys and not self._home.keys_mark_file.exists():
            prepare(self._home)
            mark_keys(self._home)
        return self._has_keys

    def create(self) -> None:
        """Give the home an id in an empty keys database; refuse where encrypted vaults exist, whose keys are lost."""
        self.check_apart()
        self._refuse_to_replace()
        self.change(lambda tx: name_home(tx, IdMaker(self._clock)("home"), self._clock()))
        self._has_keys = True

    def check_apart(self) -> None:
        """Raise unless this is another database than that of the vaults."""
        if self._connected().read(vault_rows.ids):
            raise SettingsError(
                f"{self.words} holds vaults, and keys do not belong beside what they open; "
                "name another database in storage.keys_url"
            )
        rows = PostgresEngine(self._home, self._rows, self._clock)
        if is_same_database(rows.pool, self._engine.pool):
            raise same_database(rows.place_of_catalog)

    def _refuse_to_replace(self) -> None:
        if self._home.keys_mark_file.exists():
            raise KeyStoreMissing(
                f"{self.words} has no keys, but this home has used keys in it; restore it from its own backup, "
                "the vaults cannot be opened without it"
            )
        rows = PostgresEngine(self._home, self._rows, self._clock)
        catalog = rows.open_catalog(None)
        try:
            is_encrypted = catalog.read(vault_rows.has_encrypted)
        finally:
            catalog.close()
        if is_encrypted:
            raise KeyStoreMissing(
                f"{self.words} has no keys, but {rows.place_of_catalog} is encrypted; restore the keys database from "
                "its own backup, or name the right one in storage.keys_url"
            )

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        self._check_open()
        return self._connected().read(work)

    def change(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction, also before there are keys."""

        def run(tx: PostgresTx) -> T:
            make_durable(tx)
            return work(tx)

        return self._connected().write(run)

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:  # noqa: ARG002 - no reserve
        """Run `work` in one transaction, which is on the disk when this returns, whatever the server's default is."""
        self._check_open()
        return self.change(work)

    def empty_log(self, done: str) -> None:
        """Do nothing: dead rows and the log of changes are the server's; a receipt says until when they may stay."""

    def lock(self, name: str) -> SharedLock:
        """Return a lock between the processes of all hosts."""
        host = self.host
        local = Lock(self._home.locks / f"{name}.lock")
        return SharedLock(local, name, self._connected(), self._clock, host=host)

    def copy(self, folder: Path, names: Collection[str]) -> VaultCopy:
        """Write the keys of these names into a file keys.db."""
        # Imported here: few programs make backups.
        from recollectum.storage.sqlite.upkeep import describe_file  # noqa: PLC0415

        rows = self.read(read_rows)
        write_keys_file(folder / KEYS_FILE, rows.only(names))
        return describe_file(folder / KEYS_FILE, KEYS_FILE, None)

    def findings(self) -> list[ServerFinding]:
        """Check the server of the keys, and that it is not the one of the vaults."""
        rows = PostgresEngine(self._home, self._rows, self._clock)
        found = [replace(one, topic=f"keys {one.topic}") for one in self._engine.server.findings()]
        if is_same_server(rows.pool, self._engine.pool):
            words = f"{self.words} is on the server of the vaults, whose base backups have both the rows and their keys"
            cure = "move the keys database to another server, or keep no base backups"
            found.append(ServerFinding(topic="keys place", severity="warning", words=words, cure=cure))
        return found

    @contextmanager
    def ledger(self, key: bytes | None) -> Generator[Database]:
        """Open the erasure ledger of all hosts, under the key of the catalog."""
        catalog = self._engine.open_catalog(key)
        try:
            yield catalog
        finally:
            catalog.close()

    def close(self) -> None:
        """Close every connection."""
        if self._database is not None:
            self._database.close()

    def _connected(self) -> PostgresDatabase:
        if self._database is None:
            self._database = self._engine.open_catalog(None)
        return self._database

    def _check_open(self) -> None:
        if not self._has_keys:
            raise KeyProblem("this home has no keys, because encryption is off; nothing in it is encrypted")


def same_database(words: str) -> SettingsError:
    """Return the error for keys beside the rows that they open."""
    return SettingsError(
        f"storage.keys_url and storage.url name the same database, {words}: its backups would have the rows and their "
        "keys; name another database, best on another server"
    )
