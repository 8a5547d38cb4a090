"""Bundles what every service of a vault uses, and runs its read and write transactions at the vault's time."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import NotFound, StorageError
from recollectum.domain.ids import IdMaker
from recollectum.domain.records import dataclass
from recollectum.home.logs import Log
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import Retention
from recollectum.storage.port import Database, Tx
from recollectum.vault.clock import VaultClock
from recollectum.vault.files.crawl_cache import RefreshThrottle
from recollectum.vault.files.file_host import FileHost
from recollectum.vault.gate import Gate
from recollectum.vault.open_vaults import SessionCache, VaultHandle

if TYPE_CHECKING:
    from recollectum.models.language.port import LanguageModel
    from recollectum.recall.archive import ArchiveCache
    from recollectum.recall.index.waiting import IndexedStates
    from recollectum.recall.rerank import Rerankers
    from recollectum.recall.vectors.query import VectorQuery
    from recollectum.settings.model import Settings
    from recollectum.vault.files.file_host import SharedHosts
    from recollectum.vault.files.foreign_sources import ImportReader
    from recollectum.vault.files.transcript_files import TranscriptReader

T = TypeVar("T")


def _no_language_model() -> None:
    return None


def _no_transcript_reader() -> "TranscriptReader":
    raise NotFound("this vault was opened without a transcript reader; open it through its home")


def _no_import_reader() -> "ImportReader":
    raise NotFound("this vault was opened without a reader of imports; open it through its home")


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeServices:
    """What a home offers its vaults, the same for all. Each member is used by one or two services."""

    #: Reranks the head of a result list; None without a reranker.
    rerankers: "Rerankers | None" = None
    #: Parses followed transcripts; imported when there are any.
    transcript_reader: "Callable[[], TranscriptReader]" = _no_transcript_reader
    #: Recognises and reads the files of other programs; imported for an import.
    import_reader: "Callable[[], ImportReader]" = _no_import_reader
    #: Returns the language model, or None when rules are used instead.
    language_model: "Callable[[], LanguageModel | None]" = _no_language_model
    #: The folder of the owners' files; None where there is no home.
    owners: Path | None = None
    #: Stores a secret of a vault in the credential store and returns its account; None where none is stored.
    keep_secret: Callable[[str, str], str] | None = None
    #: Deletes a stored secret; None where there is no credential store.
    forget_secret: Callable[[str], None] | None = None
    #: This host among those that use the same database; None where there are no others.
    hosts: "SharedHosts | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRuntime:
    """Everything that the services of one caller at one vault use."""

    #: The vault, which is opened when it is used.
    vault: VaultHandle
    gate: Gate
    ids: IdMaker
    retention: Retention
    settings: "Settings"
    #: The services of the home.
    home: HomeServices = field(default_factory=HomeServices)
    #: Receives what was done, as counts and ids.
    log: Log = field(default_factory=Log)

    @property
    def database(self) -> Database:
        """The database of the vault."""
        return self.vault

    @property
    def session_cache(self) -> SessionCache:
        """The cached session lists."""
        with self.vault.use() as opened:
            return opened.session_cache

    @property
    def archive(self) -> "ArchiveCache":
        """The cached terms of archived memories."""
        with self.vault.use() as opened:
            return opened.archive

    @property
    def indexed_states(self) -> "IndexedStates":
        """The states of the vault in which no text waits for the index."""
        with self.vault.use() as opened:
            return opened.vectors.indexed

    @property
    def throttle(self) -> RefreshThrottle:
        """The throttle of note and transcript refreshes."""
        with self.vault.use() as opened:
            return opened.throttle

    @property
    def files(self) -> FileHost:
        """The host of the vault's files."""
        return FileHost(self.vault.id, self.home.hosts)

    @property
    def actor(self) -> str:
        """The caller's name in events."""
        return self.gate.caller.name

    def nearest(self, query: str) -> "tuple[VectorQuery | None, str | None]":
        """Return what a query needs for vector search; or None and the reason. It may wait for a model."""
        with self.vault.use() as opened:
            return opened.vectors.prepare(self.vault, query)

    def read(self, work: Callable[[Tx, ClockReading], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot, at the vault's time; with `on_replica`, of a replica if one may answer."""
        with self.vault.use() as opened:
            clock = opened.clock

            def run(tx: Tx) -> tuple[T, bool]:
                reading = clock.reading(tx)
                return work(tx, reading), clock.crossed(tx, reading)

            value, crossed = opened.database.read(run, on_replica=on_replica)
            if crossed:
                # A deadline has passed: from now on no clock may say that it has not. A disk that takes no writes must
                # not make the answer fail.
                with suppress(StorageError):
                    opened.database.write(lambda tx: _note(clock, tx))
            opened.write_due()
            return value

    def write(self, work: Callable[[Tx, ClockReading], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction, at the vault's time."""
        with self.vault.use() as opened:
            clock = opened.clock

            def run(tx: Tx) -> T:
                reading = clock.reading(tx)
                value = work(tx, reading)
                clock.note(tx)
                return value

            return opened.write(run, frees=frees)

    def note_uses(self, memory_ids: Iterable[str | None]) -> None:
        """Note which memories were served, so that their deadlines are renewed soon, in another transaction."""
        with self.vault.use() as opened:
            opened.renewals.add(filter(None, memory_ids), self.retention)

    def note_served(self, text: str, at: datetime) -> None:
        """Note a text that a model is about to read, so that its digests are saved soon, in another transaction."""
        # A caller with a grant changes nothing here, and its agent's transcripts belong to another vault.
        if self.gate.own:
            with self.vault.use() as opened:
                opened.served.add(text, at)

    def write_renewals(self) -> None:
        """Renew the memories that were served until now."""
        with self.vault.use() as opened:
            opened.renewals.write(opened.database, opened.clock)

    def accept_clock(self, tx: Tx) -> datetime:
        """Accept the wall clock, in a transaction of this vault; return the time used before."""
        with self.vault.use() as opened:
            return opened.clock.accept(tx)

    def for_session(self, session_id: str) -> "VaultRuntime":
        """Return the same runtime with a gate for one session."""
        return replace(self, gate=replace(self.gate, session_id=session_id))


def _note(clock: VaultClock, tx: Tx) -> None:
    clock.reading(tx)
    clock.note(tx, always=True)
