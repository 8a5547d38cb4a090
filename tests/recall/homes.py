"""Homes with a scripted embedder, and the database under their vault."""

from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.paths import Home
from recollectum.models.embedding.port import Embedder
from recollectum.models.search import SearchModels
from recollectum.settings.model import StorageSettings
from recollectum.storage.opening import open_engine
from recollectum.storage.port import Database, Row
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault
from tests.crashes.homes import vault_files
from tests.matrix.homes import START, Turning, lay_home, open_home
from tests.plugins.engines import database_of

OWNER = "user:alice"
#: Words that mean the same to the embedder and share no letter of it for full text.
SYNONYMS = {"automobile": "car", "physician": "doctor", "feline": "cat"}


def scripted(name: str = "scripted", dimensions: int = 64) -> ScriptedEmbedder:
    """An embedder that knows our synonyms."""
    return ScriptedEmbedder(name, dimensions, synonyms=SYNONYMS)


@contextmanager
def opened(
    folder: Path,
    embedder: ScriptedEmbedder | None,
    *,
    clock: Clock | None = None,
    settings: Mapping[str, object] | None = None,
) -> Generator[Vault]:
    """Alice's vault in a home whose embedder is this one."""
    if (clock is None or clock() == START) and not (folder / "home").exists():
        lay_home(folder)
    with home(folder, clock=clock, settings=settings, embedder=embedder) as found:
        yield found.vault(OWNER)


def home(
    folder: Path,
    *,
    clock: Clock | None = None,
    settings: Mapping[str, object] | None = None,
    embedder: Embedder | SearchModels | None = None,
) -> Recollectum:
    """A plain home, which can be read from beside."""
    return open_home(folder, clock or Turning(), settings=settings, embedder=embedder)


@contextmanager
def beside(folder: Path) -> Generator[SqliteDatabase]:
    """The file of the only vault on a connection of its own, as another process has it."""
    (path,) = vault_files(folder / "home")
    database = SqliteDatabase(path, SqliteOptions(busy_timeout=timedelta(seconds=5)))
    try:
        yield database
    finally:
        database.close()


@contextmanager
def elsewhere(folder: Path) -> Generator[Database]:
    """The only vault on a connection of its own, on the engine of the running test."""
    if server := database_of(folder / "home"):
        engine = open_engine(Home(folder / "home"), StorageSettings(url=server.url()), system_clock)
        (vault_id,) = engine.vault_ids()
        with closing(engine.open_vault(vault_id, Owner.parse(OWNER), None)) as database:
            yield database
    else:
        with beside(folder) as database:
            yield database


def rows(folder: Path, sql: str) -> list[Row]:
    """What a statement returns from the vault."""
    with elsewhere(folder) as database:
        return database.read(lambda tx: tx.rows(sql, {}))


def change(folder: Path, sql: str) -> int:
    """Change the vault behind the back of whoever has it open."""
    with elsewhere(folder) as database:
        return database.write(lambda tx: tx.run(sql, {}))
