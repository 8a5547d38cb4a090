"""A vault built by hand over one SQLite file, so that a test reaches its connection and the layer below it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from recollectum.domain.access.caller import OPERATOR
from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock, IdMaker, system_clock
from recollectum.policy.lifecycle import Retention
from recollectum.recall.vectors.embedders import Embedders
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.settings.model import EmbeddingSettings, Settings
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.transfer.transcript_reader import TranscriptLineReader
from recollectum.vault.clock import VaultClock
from recollectum.vault.deferred.renewals import Renewals
from recollectum.vault.deferred.served import UnsavedTexts
from recollectum.vault.files.crawl_cache import CrawlCache, RefreshThrottle
from recollectum.vault.gate import Gate
from recollectum.vault.open_vaults import OpenVault, SessionCache, handle_of
from recollectum.vault.runtime import HomeServices, VaultRuntime
from recollectum.vault.vault import Vault

OWNER = Owner.parse("user:ann")


@dataclass(frozen=True, slots=True)
class Standing:
    """An open vault and the database under it."""

    database: SqliteDatabase
    vault: Vault


@contextmanager
def standing(path: Path, options: SqliteOptions, *, clock: Clock = system_clock) -> Generator[Standing]:
    """The vault in the file at `path`, made when it is not there yet."""
    database = SqliteDatabase(path, options)
    try:
        migrate(database, shipped(VAULT), clock=clock, backup=_no_backup)
        opened = OpenVault(
            renewals=Renewals(),
            served=UnsavedTexts(),
            database=database,
            clock=VaultClock(clock, timedelta(days=45)),
            vectors=VectorSearch(Embedders(EmbeddingSettings(provider="none"), {}), EmbeddingSettings(), clock),
            session_cache=SessionCache(),
            throttle=RefreshThrottle(CrawlCache()),
        )
        runtime = VaultRuntime(
            vault=handle_of(opened, ""),
            gate=Gate(OPERATOR, OWNER),
            ids=IdMaker(clock),
            retention=Retention(),
            settings=Settings(),
            home=HomeServices(transcript_reader=TranscriptLineReader),
        )
        yield Standing(database, Vault(OWNER, runtime))
    finally:
        database.close()


def _no_backup(_: str) -> None:
    """A vault whose making was cut short between two steps is empty: what is kept of it does not matter here."""
