"""Gives a test PostgreSQL servers that it may kill: one alone, or a primary with a synchronous standby.

They are copies of one data folder with the newest schema, which is made once for all workers.
"""

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString, cast
from urllib.parse import quote

import pytest

from tests.plugins.postgres import APPLICATION_LOGIN, FOLDER, PostgresDatabase, migrate
from tests.plugins.postgres_programs import Server, create_data, locked, place_of, programs, run_program, watch

_DATABASE = "memory"
_STANDBY = "standby"
_PATIENCE = 60.0
_FIXTURES = ("own_server", "server_pair")


@dataclass(frozen=True)
class OwnServer:
    """A server of one test, and its database with the newest schema."""

    server: Server
    user: int | None

    @property
    def place(self) -> Path:
        return Path(self.server.data).parent

    @property
    def database(self) -> PostgresDatabase:
        return PostgresDatabase(self.server, _DATABASE)

    @property
    def postmaster(self) -> int:
        """The process id of the server."""
        return int((Path(self.server.data) / "postmaster.pid").read_text(encoding="utf-8").split()[0])

    def start(self) -> None:
        """Start the server, also after it was killed."""
        self._control("-w", "-l", self.server.log, "start")

    def stop(self) -> None:
        """Stop the server as an administrator would who does not wait for clients."""
        self._control("-w", "-m", "fast", "stop")

    def kill(self) -> None:
        """Kill every process of the server at once, as a machine that loses power."""
        main = self.postmaster
        # Stopped first: it would start others in the place of those that are gone.
        os.kill(main, signal.SIGSTOP)
        everyone = (*_children(main), main)
        for one in everyone:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        wait_until(lambda: not any(_is_running(one) for one in everyone))
        # Its number may be listed until its parent asks for it, and the next server would take it for running.
        (Path(self.server.data) / "postmaster.pid").unlink()
        for lock in self.place.glob(".s.PGSQL.*.lock"):
            lock.unlink()

    def promote(self) -> None:
        """Make a primary of a standby, and wait until it is one."""
        self._control("-w", "promote")

    def run(self, statement: str, database: str = _DATABASE) -> list[tuple[Any, ...]]:
        """Run one statement as the administrator, and return its rows."""
        import psycopg

        url = PostgresDatabase(self.server, database).administrator_url
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(cast("LiteralString", statement))
            return cursor.fetchall() if cursor.description else []

    def _control(self, *words: str) -> None:
        command: list[str | Path] = [Path(self.server.programs) / "pg_ctl", "-D", self.server.data, "-s", *words]
        run_program(command, self.user, self.place)


@dataclass(frozen=True)
class ServerPair:
    """A primary, and a standby that confirms each commit."""

    primary: OwnServer
    standby: OwnServer

    def url(self, user: str = APPLICATION_LOGIN) -> str:
        """An address with both hosts, which finds the one that accepts writes."""
        hosts = quote(f"{self.primary.place},{self.standby.place}")
        return f"postgresql:///{_DATABASE}?host={hosts}&user={user}&target_session_attrs=read-write"

    def wait_for_replay(self) -> None:
        """Wait until the standby shows what the primary has written."""
        ((written,),) = self.primary.run("SELECT pg_current_wal_insert_lsn()")
        wait_until(lambda: self.standby.run(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == [(True,)])


def wait_until(is_so: Any) -> None:  # noqa: ANN401 - a function without arguments
    """Wait for what another process does."""
    end = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants its own server once for each version; a server that was given is not ours to kill."""
    for name in _FIXTURES:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, sorted(programs()), indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test with its own server starts programs."""
    for item in items:
        if any(name in getattr(item, "fixturenames", ()) for name in _FIXTURES):
            item.add_marker("process")


@pytest.fixture
def own_server(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    """A server that the test may kill and start again."""
    with _copied(str(request.param), {}) as server:
        server.start()
        yield server


@pytest.fixture
def server_pair(request: pytest.FixtureRequest) -> Iterator[ServerPair]:
    """A primary and its synchronous standby."""
    with pair_of(str(request.param)) as pair:
        yield pair


@contextmanager
def pair_of(version: str) -> Generator[ServerPair]:
    """Start a primary and a synchronous standby, and stop both at the end of the block."""
    settings = {"synchronous_standby_names": f"'{_STANDBY}'"}
    with _copied(version, settings) as primary, _copied(version, {}) as standby:
        conninfo = f"host={primary.place} user=postgres application_name={_STANDBY}"
        _append(standby, {"primary_conninfo": f"'{conninfo}'", "recovery_target_timeline": "'latest'"})
        _own(standby, Path(standby.server.data) / "standby.signal")
        primary.start()
        standby.start()
        query = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"
        wait_until(lambda: primary.run(query, "postgres"))
        yield ServerPair(primary, standby)


@contextmanager
def _copied(version: str, settings: dict[str, str]) -> Generator[OwnServer]:
    """A server that was never started, with the newest schema."""
    folder = Path(os.environ[FOLDER])
    pristine = _pristine(folder, version)
    place, bin_folder, user = place_of(folder, f"own-{secrets.token_hex(4)}", version)
    data = place / "data"
    # Not Python's copy: it keeps no owner.
    subprocess.run(["cp", "-a", str(pristine), str(data)], check=True)
    server = OwnServer(
        Server(version, {"host": str(place)}, str(bin_folder), str(data), str(place / "log")),
        user,
    )
    _append(server, {"unix_socket_directories": f"'{place}'", **settings})
    try:
        yield server
    finally:
        if (data / "postmaster.pid").exists():
            server.kill()
        shutil.rmtree(place.resolve(), ignore_errors=True)
        place.unlink()


def _pristine(folder: Path, version: str) -> Path:
    """A data folder with the roles and the newest schema, made once for all workers."""
    name = f"pristine-{version}"
    data = folder / name / "data"
    with locked(folder / f"{name}.lock"):
        if not (folder / f"{name}.made").exists():
            place, bin_folder, user = place_of(folder, name, version)
            watch(folder)
            create_data(data, version, bin_folder, user)
            server = OwnServer(
                Server(version, {"host": str(place)}, str(bin_folder), str(data), str(place / "log")), user
            )
            server.start()
            server.run(f"CREATE DATABASE {_DATABASE}", "postgres")
            migrate(server.database)
            server.stop()
            (folder / f"{name}.made").touch()
    return data


def _append(server: OwnServer, settings: dict[str, str]) -> None:
    with (Path(server.server.data) / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("".join(f"{name} = {value}\n" for name, value in settings.items()))


def _own(server: OwnServer, file: Path) -> None:
    file.touch()
    if server.user is not None:
        os.chown(file, server.user, -1)


def _children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(one) for one in listed.read_text(encoding="utf-8").split()] if listed.exists() else []


def _is_running(process: int) -> bool:
    # A killed process whose parent has not asked for it is still listed.
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(")")[2].split()[0] != "Z"
