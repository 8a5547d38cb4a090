"""The real client library uses everything we offer: over stdio and HTTP, with and without a daemon, in both eras."""

import os
import socket
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.home.daemon import Daemon, daemon_lock, write_daemon
from recollectum.home.paths import Home, home_root
from tests.doors.http.refusing import refusing_server
from tests.doors.mcp.every_tool import walk
from tests.doors.mcp.served import MODES, Person, over_http, over_stdio, run, serving
from tests.doors.server.daemons import daemon

pytestmark = [pytest.mark.feature("M10"), pytest.mark.process]


@pytest.mark.parametrize("person", Person)
@pytest.mark.parametrize("mode", MODES)
def test_over_stdio_in_a_process_by_itself(mode: str, person: Person) -> None:
    async def work() -> None:
        async with over_stdio(mode, person=person) as client:
            await walk(client, person=person)

    run(work)


@pytest.mark.loopback
@pytest.mark.parametrize("person", Person)
@pytest.mark.parametrize("mode", MODES)
def test_over_http_with_a_key(mode: str, person: Person, tmp_path: Path) -> None:
    async def work() -> None:
        async with over_http(served.url, key, mode, person=person) as client:
            await walk(client, person=person)

    with serving(tmp_path / "home") as served:
        key = served.new_key("user:alice")
        run(work)


@pytest.mark.loopback
def test_over_stdio_through_a_daemon_and_on_without_it() -> None:
    async def work() -> None:
        async with over_stdio("legacy", "--user", "alice", person=Person.AGREES) as client:
            await walk(client, person=Person.AGREES)
            saved = await client.call_tool("remember", {"content": "Said while the daemon ran."})
            assert not saved.is_error
            running.process.terminate()
            assert running.wait() == 0
            found = await client.call_tool("recall", {"query": "daemon", "source": "memories"})
            assert "Said while the daemon ran." in str(found.content)
        async with over_stdio("auto", "--user", "alice", person=Person.AGREES) as client:
            await walk(client, person=Person.AGREES)

    with Recollectum(settings={"storage.reserve_mib": 0}) as home:
        home.vault("user:alice")
    with daemon() as running:
        run(work)


@pytest.mark.loopback
def test_over_stdio_through_a_daemon_in_both_eras() -> None:
    async def work() -> None:
        for mode in MODES:
            for person in (Person.AGREES, Person.CANNOT_BE_ASKED):
                async with over_stdio(mode, person=person) as client:
                    await walk(client, person=person)

    with daemon():
        run(work)


@contextmanager
def _stalled_server(_: bytes) -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("server", "status"),
    [
        (refusing_server, b"429 Too Many Requests"),
        (refusing_server, b"503 Service Unavailable"),
        (refusing_server, b"500 Internal Server Error"),
        (_stalled_server, b""),
    ],
)
def test_a_daemon_that_refuses_or_stalls_does_not_leave_the_client_without_memory(
    server: Callable[[bytes], AbstractContextManager[int]], status: bytes
) -> None:
    async def work() -> None:
        async with over_stdio("auto", "--user", "alice", person=Person.AGREES) as client:
            saved = await client.call_tool("remember", {"content": "Said while the daemon was not well."})
            assert not saved.is_error
            found = await client.call_tool("recall", {"query": "daemon", "source": "memories"})
            assert "Said while the daemon was not well." in str(found.content)

    with Recollectum(settings={"storage.reserve_mib": 0}) as home:
        home.vault("user:alice")
    place = Home(home_root(None, os.environ))
    with server(status) as port, daemon_lock(place):
        write_daemon(place, Daemon(f"http://127.0.0.1:{port}", os.getpid(), "t" * 43, system_clock()))
        run(work)
