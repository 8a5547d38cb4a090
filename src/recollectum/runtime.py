"""Opens a home and holds its shared parts: settings, keys, catalog, models and open vaults."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Lock as ThreadLock
from typing import TYPE_CHECKING, NamedTuple

from recollectum.domain.access.caller import OPERATOR, Caller
from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import DEFAULT_TENANT, Person
from recollectum.domain.errors import Conflict, HomeError, NotFound, StorageError
from recollectum.domain.ids import Clock, IdMaker
from recollectum.domain.records import dataclass
from recollectum.home.locks import Lock
from recollectum.home.logs import Log
from recollectum.home.paths import Home, prepare
from recollectum.home.reserve import Reserve
from recollectum.models.search import SearchModels
from recollectum.policy.lifecycle import Retention
from recollectum.recall.rerank import Rerankers
from recollectum.recall.vectors.embedders import Embedders
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.settings.load import SYSTEM_FOLDER, SYSTEM_VARIABLE, LoadedSettings, load
from recollectum.storage.catalog_mark import CatalogMarkFile, CountedCatalog
from recollectum.storage.engine import CATALOG
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import has_vaults, is_made, open_engine
from recollectum.storage.port import Database, Tx
from recollectum.storage.read_cache import ReadCache
from recollectum.storage.tables.catalog import people, vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.storage.vault_opening import SettledKey, open_vault
from recollectum.transfer.readers import import_reader, transcript_reader
from recollectum.upkeep.spans import open_spans
from recollectum.vault.access.latest_time import LatestTime
from recollectum.vault.access.people import ensure_tenant
from recollectum.vault.clock import VaultClock
from recollectum.vault.files.crawl_cache import CrawlCache, RefreshThrottle
from recollectum.vault.files.file_host import shared_hosts
from recollectum.vault.gate import Gate
from recollectum.vault.idempotency import InFlightRequests
from recollectum.vault.open_vaults import (
    MarkKeeper,
    OpenVault,
    OpenVaults,
    SessionCache,
    VaultHandle,
    handle_of,
)
from recollectum.vault.policies import PolicyGate
from recollectum.vault.purge.environment import PurgeEnvironment, open_ledger
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.retention.periods import apply_retention, retention_of, retention_record
from recollectum.vault.runtime import HomeServices, VaultRuntime
from recollectum.vault.task_store.places import TaskPlaces

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Embedder
    from recollectum.models.language.port import LanguageModel
    from recollectum.vault.intake.secret_store import SecretStore
    from recollectum.vault.purge.person_erasure import PersonErasure


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """The options for opening a home."""

    root: Path
    cwd: Path
    environ: Mapping[str, str]
    overrides: Mapping[str, object]
    #: Models that replace those of the settings; they are not closed with the home.
    search_models: SearchModels
    language_model: "LanguageModel | None"
    #: Whether to create a missing home.
    create: bool
    clock: Clock


class KnownVault(NamedTuple):
    """A vault as the catalog has it, with the retention of its owner."""

    entry: VaultEntry
    retention: Retention
    handle: VaultHandle


class HomeRuntime:
    """One open home."""

    def __init__(self, means: OpenOptions) -> None:
        self.clock = means.clock
        self.ids = IdMaker(means.clock)
        self.home = Home(means.root)
        if not means.create and not is_made(self.home):
            raise HomeError(f"there is no home at {means.root}; name another folder, or open it with create=True")
        prepare(self.home)
        read_settings = partial(load, self.home, cwd=means.cwd, environ=means.environ, overrides=means.overrides)
        self.loaded: LoadedSettings = read_settings()
        settings = self.settings = self.loaded.settings
        Reserve(self.home.reserve_file, settings.storage.reserve_mib * 1024 * 1024).ensure()
        system = Path(means.environ.get(SYSTEM_VARIABLE) or SYSTEM_FOLDER)
        self.log = Log(self.home, settings.log.level, means.clock)
        self._ruling = PolicyGate(self.home, self.loaded.project, system, means.cwd, log=self.log)
        self.engine = open_engine(self.home, settings.storage, means.clock, lambda: read_settings().settings.storage)
        self._spans = open_spans(settings.telemetry, self.engine)
        self.keys = self.engine.with_room(
            lambda: KeyStore.open(
                self.home,
                encryption=settings.encryption,
                key_file=settings.key_file,
                environ=means.environ,
                clock=means.clock,
                storage=settings.storage,
            )
        )
        self._open_vaults = OpenVaults(settings.storage.open_vaults, settings.storage.open_vaults_mib * 1024 * 1024)
        #: The retention that each vault was opened with, by the vault's id.
        self._applied: dict[str, Retention] = {}
        self._crawls = CrawlCache()
        self._needles: dict[str, ErasureSamples] = {}
        shared_in = self.home if settings.daemon.share_embedder == "on" else None
        self._embedders = Embedders(settings.embedding, means.environ, shared_in, means.search_models)
        given = means.search_models.reranker
        self._rerankers = Rerankers(settings.recall.rerank, settings.rerank, means.environ, given)
        self._environ = means.environ
        self._given_language_model = means.language_model
        self._language: list[LanguageModel | None] = []
        self._language_lock = ThreadLock()
        self.running = InFlightRequests()
        try:
            self.catalog = self._open_catalog()
        except BaseException:
            self.keys.close()
            raise
        self.known = ReadCache(self.catalog)
        self.hosts = shared_hosts(self.home, self.engine, self.catalog, self.clock)
        self._services = HomeServices(
            rerankers=self._rerankers,
            transcript_reader=transcript_reader,
            import_reader=import_reader,
            language_model=self.language_model,
            owners=self.home.root / "owners",
            keep_secret=self._kept_secrets().keep if settings.redaction.keep == "credentials" else None,
            forget_secret=lambda account: self._kept_secrets().forget(account),
            hosts=self.hosts,
        )
        self.latest = LatestTime(self.catalog.uncounted, means.clock)

    def close(self) -> None:
        """Close every file; a second call does nothing."""
        self._open_vaults.close()
        self._rerankers.close()
        self._embedders.close()
        for model in filter(None, self._language):
            model.close()
        self.catalog.close()
        self.keys.close()
        self.log.close()

    def embedder(self) -> "Embedder | None":
        """Return the one embedder of the home, created on first use."""
        return self._embedders.get()[0]

    def find_vault(self, owner: Owner) -> "KnownVault | None":
        """Return the vault of an owner as the catalog has it now; None when there is none."""
        known = self.known.read(("vault", owner), lambda tx: self._load_vault(tx, owner))
        if known and self._applied.get(known.entry.id, known.retention) != known.retention:
            # Somebody chose another retention after the vault was opened.
            with known.handle.use() as opened:
                apply_retention(opened.database, opened.clock, known.retention)
            self._applied[known.entry.id] = known.retention
        return known

    def _load_vault(self, tx: Tx, owner: Owner) -> "KnownVault | None":
        entry = vaults.find(tx, owner)
        if entry is None:
            return None
        handle = VaultHandle(self._open_vaults, entry.id, lambda: self._open_vault(entry))
        return KnownVault(entry, retention_of(tx, owner, self.settings.lifecycle), handle)

    def gate(
        self,
        caller: Caller,
        owner: Owner | None,
        look_up: Callable[[], Caller] | None = None,
        clients: tuple[str, ...] = (),
    ) -> Gate:
        """Return the gate of a caller for an owner's vault, or for the home itself."""
        return Gate(caller, owner, look_up=look_up, ruling=self._ruling, clients=clients, spans=self._spans)

    def vault_runtime(self, known: "KnownVault", gate: Gate) -> VaultRuntime:
        """Return what the services of one vault use, for one caller."""
        return VaultRuntime(
            vault=known.handle,
            gate=gate,
            ids=self.ids,
            retention=known.retention,
            settings=self.settings,
            home=self._services,
            log=self.log,
        )

    def _purge_environment(self) -> PurgeEnvironment:
        """Return the parts of the home that a purge touches."""
        days = self.settings.storage.remains_days if self.engine.place_of_server else None
        return PurgeEnvironment(
            self.home, self.engine, self.catalog, self.keys, self.clock, self._needles, self._rekey, days, self.hosts
        )

    def _rekey(self, owner: Owner) -> None:
        from recollectum.upkeep.rekey.vault_keys import rekey_owner  # noqa: PLC0415 - few programs change a key

        rekey_owner(self, owner)

    def person_erasure(self) -> "PersonErasure":
        """Return what erases a whole person."""
        from recollectum.vault.purge.person_erasure import PersonErasure  # noqa: PLC0415 - few programs erase

        forget = self._kept_secrets().forget_vault
        return PersonErasure(self._purge_environment(), self.release, forget, self.tasks)

    @property
    def tasks(self) -> TaskPlaces:
        """Where the tasks of agent servers are."""
        url, environ = self.settings.tasks.url, self._environ
        return TaskPlaces(home=self.home, keys=self.keys, url=url, environ=environ, clock=self.clock)

    def settle(self) -> None:
        """Note the time, and finish what was interrupted when a process ended: changes of keys, and erasing people."""
        self.latest()
        if self.keys.has_unfinished():
            from recollectum.upkeep.rekey.settling import settle_keys  # noqa: PLC0415 - few homes change a key

            with suppress(StorageError, HomeError, OSError):
                settle_keys(self.home, self.engine, self.keys)
        if open_ledger(self._purge_environment()):
            # Imported here: most homes have erased nothing, and the module is slow to import.
            from recollectum.vault.purge.resume import resume_home_purges  # noqa: PLC0415

            # A disk that takes no writes must not prevent reading: the erasure waits.
            with suppress(StorageError, HomeError, OSError):
                resume_home_purges(self.person_erasure())

    def settle_vault(self, entry: VaultEntry) -> None:
        """Erase again what was erased from a vault whose file was replaced, even if it is open already."""
        self._open_vaults.discard(entry.id)
        VaultHandle(self._open_vaults, entry.id, lambda: self._open_vault(entry)).read(lambda _: None)

    def _open_vault(self, entry: VaultEntry) -> OpenVault:
        """Open a vault, apply its retention, and finish its purges before it is served."""
        # Imported here: importing the package must stay cheap.
        from recollectum.vault.deferred.renewals import Renewals  # noqa: PLC0415
        from recollectum.vault.deferred.served import UnsavedTexts  # noqa: PLC0415

        retention = self.catalog.read(lambda tx: retention_of(tx, entry.owner, self.settings.lifecycle))
        database = open_vault(self.engine, self.keys, entry, self._settled_key)
        mark = MarkKeeper(self.catalog.uncounted, entry.id, database)
        try:
            mark.check(entry.owner)
            opened = OpenVault(
                database=database,
                clock=VaultClock(self.clock, timedelta(days=self.settings.lifecycle.clock_leap_days)),
                vectors=VectorSearch(self._embedders, self.settings.embedding, self.clock, self._open_vaults.trim),
                session_cache=SessionCache(),
                throttle=RefreshThrottle(self._crawls),
                renewals=Renewals(self.clock),
                served=UnsavedTexts(self.clock),
                mark=mark,
            )
            environment = self._purge_environment()
            if environment.has_ledger():
                # Imported here: most homes have erased nothing, and the module is slow to import.
                from recollectum.vault.purge.resume import resume_vault_purges  # noqa: PLC0415

                known = KnownVault(entry, retention, handle_of(opened, entry.id))
                resume_vault_purges(self.vault_runtime(known, Gate(OPERATOR, entry.owner)), environment)
            apply_retention(database, opened.clock, retention)
            self._applied[entry.id] = retention
        except BaseException:
            database.close()
            raise
        return opened

    def release(self, vault_id: str) -> bool:
        """Close a vault in this process; True when no other process has it open either."""
        self._open_vaults.discard(vault_id)
        key = self.keys.key(vault_id) if self.keys.has_key(vault_id) else None
        return self.engine.is_unused(vault_id, key)

    def make_vault(self, owner: Owner, *, may_add_person: bool = True) -> VaultEntry:
        """Create a vault for an owner: key, file, and last the catalog row, which makes it visible."""
        entry = VaultEntry(
            owner=owner,
            id=self.ids("vlt"),
            encrypted=self.settings.encryption == "auto" and self.keys.enabled,
            created_at=self.clock(),
        )
        key = self.keys.make_key(entry.id) if entry.encrypted else None
        # Recorded with the vault, or else its first opening would be a write.
        retention = self.catalog.read(lambda tx: retention_of(tx, owner, self.settings.lifecycle))
        place = self.engine.place_of_catalog
        self.engine.create_vault(entry.id, owner, key, retention_record(retention))

        def change(tx: Tx) -> VaultEntry | None:
            if self.engine.place_of_catalog != place:
                # The catalog was moved meanwhile, and the vault is not beside it.
                return None
            if people.find(tx, owner.person) is None:
                if not may_add_person:
                    raise NotFound(f"there is no person {str(owner.person)!r} in this home")
                ensure_tenant(tx, DEFAULT_TENANT, self.clock)
                people.add(tx, Person(owner=owner.person, tenant=DEFAULT_TENANT, created_at=self.clock()))
            return vaults.add(tx, entry)

        try:
            stands = self.catalog.write(change)
        except BaseException:
            self._discard(entry)
            raise
        if stands is None or stands.id != entry.id:
            # Another process created one for the same owner at the same time.
            self._discard(entry)
        return stands or self.make_vault(owner, may_add_person=may_add_person)

    def pending_steps(self) -> dict[Owner, tuple[str, ...]]:
        """Return, for each vault, the migrations that opening it will run."""
        entries = self.catalog.read(vaults.everything)
        return {entry.owner: self.engine.pending_steps(entry.id, self._vault_key(entry)) for entry in entries}

    def _vault_key(self, entry: VaultEntry) -> bytes | None:
        return self.keys.key(entry.id) if entry.encrypted else None

    def _settled_key(self, vault_id: str) -> SettledKey:
        from recollectum.upkeep.rekey.settling import settled_key  # noqa: PLC0415 - few homes change a key

        return settled_key(self.engine, self.keys, vault_id)

    def _discard(self, entry: VaultEntry) -> None:
        self.engine.destroy_vault(entry.id)
        if entry.encrypted:
            self.keys.destroy_key(entry.id, used=False)

    def _open_catalog(self) -> CountedCatalog:
        mark = CatalogMarkFile(self.home)
        catalog = CountedCatalog(self._open_database(mark), mark, self.engine.place_of_catalog)
        try:
            catalog.check()
        except BaseException:
            catalog.close()
            raise
        return catalog

    def _open_database(self, mark: CatalogMarkFile) -> Database:
        if self.engine.is_made():
            return self.engine.open_catalog(self._catalog_key())
        with Lock(self.home.locks / "home.lock"):
            if not self.engine.is_made() and not has_vaults(self.home):
                # It belongs to a catalog that was deleted together with its vaults.
                mark.forget()
            # The key first, so that an interrupted creation is finished with the same one.
            if self.settings.encryption == "auto" and not self.keys.has_key(CATALOG):
                with suppress(Conflict):
                    self.keys.make_key(CATALOG)
            return self.engine.create_catalog(self._catalog_key())

    def _catalog_key(self) -> bytes | None:
        return self.keys.key(CATALOG) if self.keys.has_key(CATALOG) else None

    def language_model(self) -> "LanguageModel | None":
        """Return the one language model of the home, created on first use."""
        if self._given_language_model:
            return self._given_language_model
        # Imported here: most programs use none, and provider clients are slow to import.
        from recollectum.home.credentials.store import Credentials  # noqa: PLC0415
        from recollectum.models.registry.language import open_language_model  # noqa: PLC0415

        with self._language_lock:
            if not self._language:
                named, environ = self.settings.language_model, self._environ
                secret = Credentials(self.home, self.keys, environ=environ, clock=self.clock).secret
                self._language.append(
                    open_language_model(named, environ, home=self.home, clock=self.clock, secret=secret)
                )
            return self._language[0]

    def _kept_secrets(self) -> "SecretStore":
        # Imported here: most programs use none, and provider clients are slow to import.
        from recollectum.vault.intake.secret_store import SecretStore  # noqa: PLC0415

        return SecretStore(
            home=self.home, keys=self.keys, catalog=self.catalog, environ=self._environ, clock=self.clock
        )
