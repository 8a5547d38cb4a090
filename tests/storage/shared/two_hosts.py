"""Two homes, as of two hosts, on one database of rows and one keys database."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import LiteralString, cast

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.settings.model import Settings
from recollectum.settings.storage import StorageSettings
from recollectum.upkeep.backup.restore import BackupAccess
from tests.plugins.postgres import PostgresDatabase, available, database_on


class TwoHosts:
    """The folders of two hosts, and the databases that both use."""

    def __init__(self, folder: Path, rows: PostgresDatabase, keys: PostgresDatabase) -> None:
        self.folder = folder
        self.rows = rows
        self.keys = keys

    def environ(self, host: str, *, passphrase: str = "") -> dict[str, str]:
        """The environment of one host's programs."""
        place = self.folder / host
        place.mkdir(exist_ok=True)
        given = {"RECOLLECTUM_PASSPHRASE": passphrase} if passphrase else {}
        return {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config"), **given}

    @property
    def key_file(self) -> Path:
        """A secret that both hosts were given."""
        return self.folder / "master.key"

    @property
    def settings(self) -> dict[str, object]:
        return {
            "storage.url": self.rows.url(),
            "storage.keys_url": self.keys.url(),
            "storage.prepared_statements": self.rows.prepared_statements,
            "embedding.provider": "none",
            "key_file": str(self.key_file),
        }

    def environ_with_settings(self, host: str) -> dict[str, str]:
        """The same, with the addresses in variables."""
        urls = {"RECOLLECTUM_STORAGE__URL": self.rows.url(), "RECOLLECTUM_STORAGE__KEYS_URL": self.keys.url()}
        return {**self.environ(host), **urls}

    def storage(self, *, storage__url: str | None = None, storage__keys_url: str | None = None) -> StorageSettings:
        """The settings of the storage."""
        url = self.rows.url() if storage__url is None else storage__url
        return StorageSettings(url=url, keys_url=self.keys.url() if storage__keys_url is None else storage__keys_url)

    def access(self, host: str, **changed: str) -> BackupAccess:
        """What a backup is opened with on a host."""
        settings = replace(Settings(), storage=self.storage(**changed), key_file=str(self.key_file))
        return BackupAccess(settings=settings, environ=self.environ(host), clock=system_clock)

    @contextmanager
    def keys_away(self) -> Generator[None]:
        """Let nobody connect to the keys database, as if its server were away."""
        name = self.keys.name
        with psycopg.connect(self.rows.administrator_url, autocommit=True) as administrator:
            administrator.execute(cast("LiteralString", f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
            administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            yield
            administrator.execute(cast("LiteralString", f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))

    def home(self, host: str) -> Path:
        return self.folder / host / "home"

    def open(self, host: str, *, passphrase: str = "", **settings: object) -> Recollectum:
        """Open the home of one host."""
        changed = {name.replace("__", "."): value for name, value in settings.items()}
        environ = self.environ(host, passphrase=passphrase)
        return Recollectum(self.home(host), settings={**self.settings, **changed}, environ=environ)


@contextmanager
def two_hosts(folder: Path, rows: PostgresDatabase) -> Generator[TwoHosts]:
    """Make a keys database beside a database of rows."""
    with database_on(rows.server.version) as keys:
        yield TwoHosts(folder, rows, keys)


@pytest.fixture
def hosts(tmp_path: Path) -> Generator[TwoHosts]:
    """Two hosts on fresh databases of one server: nothing here depends on its version."""
    with database_on(max(available())) as rows, two_hosts(tmp_path, rows) as made:
        yield made
