"""Bundles what every service of a vault uses, and runs its read and write transactions at the vault's time."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import NotFound, StorageError
from recollectum.domain.ids import IdMaker
from recollectum.home.logs import Log
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import Retention
from recollectum.storage.port import Database, Tx
from recollectum.vault.clock import VaultClock
from recollectum.vault.files.crawl_cache import RefreshThrottle
from recollectum.vault.gate import Gate
from recollectum.vault.open_vaults import SessionCache, VaultHandle

if TYPE_CHECKING:
    from recollectum.models.language.port import LanguageModel
    from recollectum.recall.rerank import Rerankers
    from recollectum.recall.vectors.query import VectorQuery
    from recollectum.settings.model import Settings
    from recollectum.vault.files.transcript_files import TranscriptReader

T = TypeVar("T")


def _no_language_model() -> None:
    return None


def _no_transcript_reader() -> "TranscriptReader":
    raise NotFound("there is nothing here that reads transcripts; open the vault through its home")


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeServices:
    """What a home offers its vaults; the same for all of them. Each is used by one or two services."""

    #: Reranks the head of a result list; None where nothing does.
    rerankers: "Rerankers | None" = None
    #: Reads the transcripts that are followed; loaded when there is one.
    transcript_reader: "Callable[[], TranscriptReader]" = _no_transcript_reader
    #: The language model, or None where rules must do.
    language_model: "Callable[[], LanguageModel | None]" = _no_language_model
    #: The folder of the owners' own files; None where there is no home.
    owners: Path | None = None
    #: Keeps a secret of a vault in the credential store and says under which account; None where none is kept.
    keep_secret: Callable[[str, str], str] | None = None
    #: Deletes one that was kept; None where there is no credential store.
    forget_secret: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRuntime:
    """One caller at one vault."""

    #: The vault, which is opened when it is used.
    vault: VaultHandle
    gate: Gate
    ids: IdMaker
    retention: Retention
    settings: "Settings"
    #: What the home offers beside the vault.
    home: HomeServices = field(default_factory=HomeServices)
    #: Where it is told what was done, in counts and ids.
    log: Log = field(default_factory=Log)

    @property
    def database(self) -> Database:
        """The database of the vault."""
        return self.vault

    @property
    def session_cache(self) -> SessionCache:
        """The lists of sessions that are still good."""
        with self.vault.use() as opened:
            return opened.session_cache

    @property
    def throttle(self) -> RefreshThrottle:
        """When notes and transcripts were last looked at."""
        with self.vault.use() as opened:
            return opened.throttle

    @property
    def actor(self) -> str:
        """What events call the caller."""
        return self.gate.caller.name

    def nearest(self, query: str) -> "tuple[VectorQuery | None, str | None]":
        """What a question needs to be answered by vectors; or None, and why not. It may wait for a model."""
        with self.vault.use() as opened:
            return opened.vectors.prepare(self.vault, query)

    def read(self, work: Callable[[Tx, ClockReading], T]) -> T:
        """Run `work` in one snapshot, at the vault's time."""
        with self.vault.use() as opened:
            clock = opened.clock

            def run(tx: Tx) -> tuple[T, bool]:
                reading = clock.reading(tx)
                return work(tx, reading), clock.crossed(tx, reading)

            value, crossed = opened.database.read(run)
            if crossed:
                # A deadline was seen to pass: from now on no clock may say that it has not.
                # A disk that takes no writes must not make the answer fail.
                with suppress(StorageError):
                    opened.database.write(lambda tx: _note(clock, tx))
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

            return opened.database.write(run, frees=frees)

    def accept_clock(self, tx: Tx) -> datetime:
        """Believe the wall clock, in a transaction of this vault; the time believed before."""
        with self.vault.use() as opened:
            return opened.clock.accept(tx)

    def for_session(self, session_id: str) -> "VaultRuntime":
        """The same, with a gate for one session."""
        return replace(self, gate=replace(self.gate, session_id=session_id))


def _note(clock: VaultClock, tx: Tx) -> None:
    clock.reading(tx)
    clock.note(tx, always=True)
