"""Keeps the catalog and the vaults of a home in one PostgreSQL database."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

import psycopg

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Moved, SchemaNewer, StorageError
from recollectum.domain.ids import Clock
from recollectum.home.database_mark import mark_database
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.engine import CATALOG, VAULT, DatabaseServer, EngineUpkeep, VaultPlace
from recollectum.storage.port import Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.connections.address import ROWS, DatabaseUse, read_address
from recollectum.storage.postgres.connections.pool import PoolOptions, SharedPool
from recollectum.storage.postgres.connections.replica import PATIENCE, Replica
from recollectum.storage.postgres.connections.rights import check_server
from recollectum.storage.postgres.connections.schema_watch import SchemaWatch
from recollectum.storage.postgres.database import PostgresDatabase, RenewKey
from recollectum.storage.postgres.failures import translate
from recollectum.storage.postgres.migrate import SchemaStep, newer, pending
from recollectum.storage.postgres.scopes import DatabaseScope, catalog_scope, vault_scope
from recollectum.storage.postgres.sealing import values_under
from recollectum.storage.postgres.statements import Statements
from recollectum.storage.postgres.transaction import PostgresTx, TransactionContext
from recollectum.storage.tables.trail import meta as table

T = TypeVar("T")
_OWNER = "owner"
#: Seconds in which the server notices that a program has closed its connection, or was killed.
_LEAVING = 3.0
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


class PostgresEngine:
    """The database of one home; see `storage.engine.Engine`."""

    #: Each vault has a row in the catalog, which its writers lock.
    counts_writes = True

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock, use: DatabaseUse = ROWS) -> None:
        self._home = home
        self._clock = clock
        self._use = use
        address = use.of(read_address(settings.url, use.setting))
        options = PoolOptions(
            most=settings.connections,
            prepares=settings.prepared_statements == "on",
            wait_seconds=settings.busy_timeout_seconds,
            statement_ms=round(settings.statement_timeout_seconds * 1000),
        )
        self.pool = SharedPool(address, options, partial(check_server, setting=use.setting), SchemaWatch(newer))
        self._replica = _replica(settings, options) if settings.replica_url else None
        lock_ms = round(settings.busy_timeout_seconds * 1000)
        self._vault_scope = partial(vault_scope, lock_ms=lock_ms, statement_ms=options.statement_ms)
        self._catalog_scope = catalog_scope(address.words, lock_ms=lock_ms, statement_ms=options.statement_ms)
        #: That of the home: the rows of vaults can be here while the catalog that lists them is elsewhere.
        self._home_scope = replace(self._catalog_scope, refuses_moved=True)
        #: What the server said of each statement; the tables of all vaults are the same.
        self._statements = {CATALOG: Statements(in_vault=False), VAULT: Statements(in_vault=True)}

    @property
    def upkeep(self) -> EngineUpkeep:
        """Return the object that inspects and copies databases."""
        # Import here: most programs only read and write.
        from recollectum.storage.postgres.copies import PostgresCopies  # noqa: PLC0415
        from recollectum.storage.postgres.upkeep import PostgresUpkeep  # noqa: PLC0415

        copies = PostgresCopies(self, self._open_unchecked, self._check_own_schema, self._clock)
        return PostgresUpkeep(self._home, self, self._open_unchecked, copies, self._clock)

    @property
    def server(self) -> DatabaseServer:
        """Return the server of the database."""
        # Import here: few programs look at it.
        from recollectum.storage.postgres.operations.server import PostgresServer  # noqa: PLC0415

        return PostgresServer(self.pool, self._replica.address if self._replica else None)

    @property
    def place_of_catalog(self) -> str:
        """Return the address of the database without its password."""
        return self.pool.place

    @property
    def place_of_server(self) -> str:
        """Return the address of the database without its password."""
        return self.pool.place

    def is_made(self) -> bool:
        """Return whether this home has used its database before."""
        return self._home.postgres_mark_file.exists()

    def with_room(self, opening: Callable[[], T]) -> T:
        """Return the result of `opening`: the reserve is for the disk of the home, not for the server's."""
        return opening()

    def create_catalog(self, key: bytes | None) -> PostgresDatabase:
        """Return the catalog, which `recollectum upgrade` creates, and note in the home that it is used."""
        database = self.open_catalog(key)
        mark_database(self._home)
        return database

    def open_catalog(self, key: bytes | None, *, moved: bool = False) -> PostgresDatabase:
        """Return the existing catalog, at this program's schema; its transactions are refused once it is moved.

        With `moved`, also one that was moved away, or that a move is copying.
        """
        database = self._open(self._catalog_scope if moved else self._home_scope, key)
        try:
            self._check_schema()
        except BaseException:
            database.close()
            raise
        return database

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None, meta: Mapping[str, str]) -> None:
        """Create a vault that records its owner, with these first rows of its meta table."""
        catalog = self._open(self._catalog_scope)

        def create(tx: PostgresTx) -> None:
            values = values_under(key)
            made = TransactionContext(vault_rows.add(tx, vault_id, values.mark), self._statements[VAULT], values)
            inside = tx.entered(made)
            for name, value in {**meta, _OWNER: str(owner)}.items():
                table.save(inside, name, value)

        try:
            catalog.write(create)
        finally:
            catalog.close()

    def open_vault(
        self, vault_id: str, owner: Owner, key: bytes | None, renew: RenewKey | None = None
    ) -> PostgresDatabase:
        """Open an existing vault of this owner: a lost one is not replaced, and a swapped one is refused."""
        database = self._open_unchecked(vault_id, key, renew)
        try:
            found = database.read(lambda tx: table.find(tx, _OWNER))
        except BaseException:
            database.close()
            raise
        if found != str(owner):
            database.close()
            raise StorageError(
                f"{self._words(vault_id)} is not the vault that the catalog names; restore the right rows"
            )
        return database

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:  # noqa: ARG002 - one schema for all
        """Return the schema steps that `recollectum upgrade` would run, without changing anything."""
        self.pool.hold()
        try:
            return tuple(step.label for step in self._pending())
        finally:
            self.pool.let_go()

    def vault_ids(self) -> list[str]:
        """Return the ids of all vaults, also of those that the catalog does not list."""
        return self._in_catalog(vault_rows.ids)

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """Return the database of a vault and how much of it the vault takes, or None when it does not exist."""
        found = self._in_catalog(lambda tx: vault_rows.place(tx, vault_id))
        if found is None:
            return None
        changed_at = datetime.fromtimestamp(found.last_write_at / 1_000_000, UTC)
        database = self._open(self._vault_scope(found.vault, self._words(vault_id)))
        try:
            size = database.read(vault_rows.size)
        finally:
            database.close()
        return VaultPlace(words=self._words(vault_id), bytes=size, changed_at=changed_at)

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:  # noqa: ARG002 - the server needs no key for it
        """Return whether no other connection to the database is open; an idle process may have none for a while.

        True for a vault: it may be deleted while others have it open; their next transaction is told.
        """
        if vault_id != CATALOG:
            return True
        connection = self.pool.direct()
        end = time.monotonic() + _LEAVING
        try:
            while connection.execute(_OTHERS, prepare=False).fetchall()[0][0]:
                if time.monotonic() >= end:
                    return False
                time.sleep(_LEAVING / 20)
        finally:
            connection.close()
        return True

    def destroy_vault(self, vault_id: str, destroy_key: Callable[[], object] = lambda: None) -> None:
        """Delete the rows of a vault, if it exists.

        Before its key is destroyed its row gets a mark that no key has, so that every host asks for the key again.
        """
        vault = self._in_catalog(lambda tx: vault_rows.find(tx, vault_id))
        if vault is None or vault < 0:
            destroy_key()
            if vault:
                self._destroy_moved(-vault)
            return
        database = self._open(self._vault_scope(vault, self._words(vault_id)))
        try:
            database.write(lambda tx: vault_rows.save_key_mark(tx, vault_rows.DESTROYED))
            destroy_key()
            database.write(vault_rows.remove)
        finally:
            database.close()

    def _destroy_moved(self, vault: int) -> None:
        """Delete the rows of a vault that was moved away: no transaction of its own can begin."""
        context = TransactionContext(vault, self._statements[VAULT], values_under(None))
        catalog = self._open(self._catalog_scope)
        try:
            catalog.write(lambda tx: vault_rows.remove(tx.entered(context)))
        finally:
            catalog.close()

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:  # noqa: ARG002 - see below
        """Return the number of writes of each vault, by one statement; a commit and its number show at once."""
        wanted = list(vault_ids)
        found = self._in_catalog(lambda tx: vault_rows.changes(tx, wanted))
        return {vault_id: str(found.get(vault_id, "")) for vault_id in wanted}

    def _open_unchecked(self, vault_id: str, key: bytes | None, renew: RenewKey | None = None) -> PostgresDatabase:
        words = self._words(vault_id)
        vault = self._in_catalog(lambda tx: vault_rows.find(tx, vault_id))
        if vault is None:
            raise StorageError(f"{words} is missing; restore it from a backup, nothing was created in its place")
        if vault < 0:
            raise Moved(f"{words} was moved away; `recollectum move` deletes its rows")
        return self._open(self._vault_scope(vault, words), key, renew)

    def _pending(self) -> tuple[SchemaStep, ...]:
        with self.pool.taken() as connection:
            try:
                return pending(connection)
            except psycopg.Error as error:
                raise translate(error, self.pool.place) from None

    def _words(self, vault_id: str) -> str:
        return f"the vault {vault_id} in {self.pool.place}"

    def _open(self, scope: DatabaseScope, key: bytes | None = None, renew: RenewKey | None = None) -> PostgresDatabase:
        context = TransactionContext(scope.vault, self._statements[scope.family], values_under(key))
        return PostgresDatabase(self.pool, scope, context, renew, self._replica)

    def _in_catalog(self, work: Callable[[Tx], T]) -> T:
        database = self._open(self._catalog_scope)
        try:
            return database.read(work)
        finally:
            database.close()

    def _check_schema(self) -> None:
        due = self._pending()
        if due:
            raise StorageError(
                f"{self.pool.place} lacks the schema of this program ({due[0].label}); "
                f"run `recollectum upgrade` with the migrator's address in {self._use.migrator}"
            )

    def _check_own_schema(self) -> None:
        """Raise for a newer schema, although this program may use it: a copy would lack what it does not know."""
        with self.pool.taken() as connection:
            found = newer(connection)
        if found:
            raise SchemaNewer(
                f"the schema of {self.pool.place} is newer than this program ({found[-1]}), which cannot copy what it "
                "does not know; upgrade the program"
            )


def _replica(settings: StorageSettings, options: PoolOptions) -> Replica:
    """Return the replica that may answer reads; nothing is opened yet."""
    address = read_address(settings.replica_url, "storage.replica_url")
    limit = min(int(address.options["connect_timeout"]), PATIENCE)
    quick = replace(address, options={**address.options, "connect_timeout": limit})
    return Replica(SharedPool(quick, replace(options, wait_seconds=PATIENCE / 2), check_server, SchemaWatch(newer)))
