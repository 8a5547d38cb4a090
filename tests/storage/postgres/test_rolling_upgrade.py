"""Servers of several releases work on one database while its schema is upgraded, and no request fails."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from recollectum import Recollectum
from tests.doors.server.daemons import PATIENCE_SECONDS, QUICK, Running, until
from tests.plugins.postgres import PostgresDatabase, available, database_on
from tests.storage.postgres.engines import administer

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.loopback]

_PROGRAM = Path(__file__).with_name("newer_program.py")
_CLIENTS = 3
#: How many requests are answered between two steps of the upgrade.
_MEANWHILE = int(os.environ.get("ROLLING_UPGRADE_REQUESTS", "12"))


@pytest.fixture
def database() -> Iterator[PostgresDatabase]:
    with database_on(available()[-1]) as made:
        yield made


class Release:
    """The program that knows so many further steps, for one home."""

    def __init__(self, further: int, home: Path, database: PostgresDatabase) -> None:
        self._line = [sys.executable, str(_PROGRAM), str(further)]
        self._environ = {
            **os.environ,
            **QUICK,
            "RECOLLECTUM_HOME": str(home),
            "RECOLLECTUM_ENCRYPTION": "off",
            "RECOLLECTUM_STORAGE__URL": database.url(),
            "RECOLLECTUM_STORAGE__MIGRATOR_URL": database.migrator_url,
            "RECOLLECTUM_SERVER__DRAIN_SECONDS": "2",
            "PYTHONPATH": str(Path(__file__).parents[3]),
        }

    def call(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end."""
        return subprocess.run(
            [*self._line, *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env=self._environ,
        )

    @contextmanager
    def serving(self) -> Generator[Running]:
        """Serve until the block ends."""
        line = [*self._line, "serve", "--json", "--port", "0"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=self._environ) as process:
            try:
                assert process.stdout is not None
                said = process.stdout.readline()
                assert said, "the server ended without a word"
                yield Running(process, json.loads(said))
            finally:
                process.kill()


def _ask(running: Running, method: str, path: str, key: str = "", body: object = None) -> tuple[int, Mapping[str, Any]]:
    place = urlsplit(running.url)
    connection = HTTPConnection(str(place.hostname), int(place.port or 0), timeout=PATIENCE_SECONDS)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"} if key else {}
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class Balancer:
    """Clients that send requests to the servers which are ready, as a balancer would."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._servers: dict[str, Running] = {}
        self._ready: list[str] = []
        self._stop = threading.Event()
        self.failed: list[object] = []
        self.saved: list[str] = []
        self.answered: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._look)]
        self._threads += [threading.Thread(target=self._send, args=(number,)) for number in range(_CLIENTS)]

    def __enter__(self) -> "Balancer":
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for one in self._threads:
            one.join()

    def add(self, name: str, running: Running) -> None:
        """Send requests to one more server once it is ready."""
        self._servers[name] = running
        until(lambda: name in self._ready)

    def replace(self, name: str) -> None:
        """Stop a server as its operator does, and wait for its end."""
        stopped = self._servers[name]
        stopped.process.send_signal(signal.SIGTERM)
        assert stopped.wait() == 0
        del self._servers[name]

    def wait(self, *names: str) -> None:
        """Wait until each of these servers has answered some more requests."""
        wanted = {name: self.answered[name] + _MEANWHILE for name in names}
        until(lambda: self.failed or all(self.answered[name] >= count for name, count in wanted.items()))

    def _look(self) -> None:
        while not self._stop.is_set():
            self._ready = [name for name, one in [*self._servers.items()] if _is_ready(one)]
            time.sleep(0.05)

    def _send(self, client: int) -> None:
        number = 0
        while not self._stop.is_set() and not self.failed:
            ready = self._ready
            if not ready:
                time.sleep(0.01)
                continue
            number += 1
            name = ready[number % len(ready)]
            text = f"the {number}th walk of client {client} was long"
            requests = ("/v1/memories", {"content": text}), ("/v1/recall", {"query": text})
            for path, body in requests:
                try:
                    status, told = _ask(self._servers[name], "POST", path, self._key, body)
                except (OSError, KeyError) as error:
                    status, told = 0, {"detail": repr(error)}
                if status not in (200, 201):
                    self.failed.append((name, path, status, told))
                    return
            self.saved.append(text)
            self.answered[name] += 1


def _is_ready(running: Running) -> bool:
    try:
        return _ask(running, "GET", "/readyz")[0] == 200
    except OSError:
        return False


def _key(home: Path, database: PostgresDatabase) -> str:
    with Recollectum(home, settings={"storage.url": database.url(), "encryption": "off"}) as opened:
        opened.vault("user:alice")
        return opened.keys.add("user:alice")[1]


def test_no_request_fails_while_servers_and_schema_are_upgraded(database: PostgresDatabase, tmp_path: Path) -> None:
    homes = tmp_path / "one", tmp_path / "two"
    old, newer, newest, breaking = (tuple(Release(further, home, database) for home in homes) for further in range(4))
    key = _key(homes[0], database)
    with ExitStack() as servers, Balancer(key) as load:
        for name, release in zip(("old one", "old two"), old, strict=True):
            load.add(name, servers.enter_context(release.serving()))
        load.wait("old one", "old two")
        # First the schema, then the servers: a program opens nothing before its steps have run.
        assert "lacks the schema of this program" in newer[0].call("users", "list").stderr
        assert newer[0].call("upgrade").stdout == "the database took vault 9001 moods\n"
        load.wait("old one", "old two")
        load.replace("old two")
        load.add("newer two", servers.enter_context(newer[1].serving()))
        load.wait("old one", "newer two")
        assert newest[0].call("upgrade").stdout == "the database took catalog 9001 titles\n"
        load.wait("old one", "newer two")
        load.replace("old one")
        load.add("newest one", servers.enter_context(newest[0].serving()))
        load.wait("newest one", "newer two")
        load.replace("newer two")
    assert load.failed == []
    ((kept,),) = administer(database, "SELECT count(*) FROM recollectum.memories")
    assert kept == len(load.saved) > 5 * _MEANWHILE

    # What no program uses any more is removed last; one that still uses it refuses in words.
    with newest[1].serving() as running:
        assert breaking[1].call("upgrade").stdout == "the database took vault 9002 weights\n"
        status, told = _ask(running, "GET", "/readyz")
        assert (status, told["detail"]) == (503, "the schema needs a newer program; upgrade this server")
        status, told = _ask(running, "POST", "/v1/memories", key, {"content": "too late"})
        assert (status, told["title"]) == (503, "this server is too old for the database; upgrade it")
    refused = newest[0].call("serve", "--port", "0")
    assert refused.returncode != 0
    assert "step 9002 (weights) needs a program that knows step 9002, and this one knows 9001" in refused.stderr
    assert refused.stdout == ""
