"""Bundles what every service of a vault uses, and runs its read and write transactions at the vault's time."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import StorageError
from recollectum.domain.ids import IdMaker
from recollectum.home.logs import Log
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import Retention
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.settings.model import Settings
from recollectum.storage.port import Database, Tx
from recollectum.vault.clock import VaultClock
from recollectum.vault.files.crawl_cache import CrawlCache, RefreshThrottle
from recollectum.vault.gate import Gate
from recollectum.vault.session_cache import SessionCache

if TYPE_CHECKING:
    from recollectum.models.language.port import LanguageModel
    from recollectum.recall.rerank import Rerankers
    from recollectum.vault.files.transcript_files import TranscriptReader

T = TypeVar("T")


def _no_language_model() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRuntime:
    """One caller at one vault."""

    database: Database
    gate: Gate
    clock: VaultClock
    ids: IdMaker
    retention: Retention
    settings: Settings
    #: Search by meaning, as far as there is an embedder.
    vectors: VectorSearch
    #: Reranks the head of a result list; None where nothing does.
    rerankers: "Rerankers | None" = None
    #: Reads the transcripts that are followed; loaded when there is one.
    transcript_reader: "Callable[[], TranscriptReader]"
    #: The language model, or None where rules must do.
    language_model: "Callable[[], LanguageModel | None]" = _no_language_model
    #: The folder of the owners' own files; None where there is no home.
    owners: Path | None = None
    #: Lists of sessions that are still good.
    session_cache: SessionCache = field(default_factory=SessionCache)
    #: When the notes and transcripts were last looked at.
    throttle: RefreshThrottle = field(default_factory=lambda: RefreshThrottle(CrawlCache()))
    #: Keeps a secret in the credential store and says under which account; None where secrets are not kept.
    keep_secret: Callable[[str], str] | None = None
    #: Deletes one that was kept; None where there is no credential store.
    forget_secret: Callable[[str], None] | None = None
    #: Where it is told what was done, in counts and ids.
    log: Log = field(default_factory=Log)

    @property
    def actor(self) -> str:
        """What events call the caller."""
        return self.gate.caller.name

    def read(self, work: Callable[[Tx, ClockReading], T]) -> T:
        """Run `work` in one snapshot, at the vault's time."""

        def run(tx: Tx) -> tuple[T, bool]:
            reading = self.clock.reading(tx)
            return work(tx, reading), self.clock.crossed(tx, reading)

        value, crossed = self.database.read(run)
        if crossed:
            # A deadline was seen to pass: from now on no clock may say that it has not.
            # A disk that takes no writes must not make the answer fail.
            with suppress(StorageError):
                self.database.write(self._note)
        return value

    def write(self, work: Callable[[Tx, ClockReading], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction, at the vault's time."""

        def run(tx: Tx) -> T:
            reading = self.clock.reading(tx)
            value = work(tx, reading)
            self.clock.note(tx)
            return value

        return self.database.write(run, frees=frees)

    def _note(self, tx: Tx) -> None:
        self.clock.reading(tx)
        self.clock.note(tx, always=True)

    def for_session(self, session_id: str) -> "VaultRuntime":
        """The same, with a gate for one session."""
        return replace(self, gate=replace(self.gate, session_id=session_id))
