"""`/readyz` says whether a server can serve, to anybody, and fails first when the server is told to stop."""

import json
import signal
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString
from urllib.parse import urlsplit

import pytest

from tests.doors.http.served import Served, serving
from tests.doors.server.daemons import Running, daemon, home, until
from tests.plugins.postgres import available, database_on

if TYPE_CHECKING:
    from tests.plugins.postgres import PostgresDatabase

pytestmark = [pytest.mark.loopback, pytest.mark.process]
#: Longer than the test looks: the second signal ends it.
_LONG = "60"


@pytest.fixture(params=["sqlite", *available()[-1:]])
def environ(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The environment of a daemon on files, and on a server."""
    if request.param == "sqlite":
        yield {}
        return
    with database_on(request.param) as database:
        yield {"RECOLLECTUM_STORAGE__URL": database.url()}


@contextmanager
def _connected(running: Running) -> Generator[HTTPConnection]:
    place = urlsplit(running.url)
    connection = HTTPConnection(str(place.hostname), int(place.port or 0), timeout=30)
    try:
        yield connection
    finally:
        connection.close()


def _asked(running: Running, path: str) -> tuple[int, Any]:
    with _connected(running) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def _key(environ: dict[str, str]) -> str:
    url = environ.get("RECOLLECTUM_STORAGE__URL", "")
    with home(settings={"storage.url": url}) as opened:
        opened.vault("user:alice")
        return opened.keys.add("user:alice")[1]


def test_sigterm_fails_it_first_then_requests_are_finished_and_the_exit_code_is_0(environ: dict[str, str]) -> None:
    key = _key(environ)
    body = json.dumps({"content": "sent in two halves"}).encode()
    with (
        daemon("--port", "0", environ={**environ, "RECOLLECTUM_SERVER__DRAIN_SECONDS": _LONG}) as running,
        _connected(running) as slow,
    ):
        assert _asked(running, "/readyz") == (200, {"status": "ready"})
        slow.putrequest("POST", "/v1/memories")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "Content-Length": len(body)}
        for name, value in headers.items():
            slow.putheader(name, str(value))
        slow.endheaders(body[:5])
        running.process.send_signal(signal.SIGTERM)
        until(lambda: _asked(running, "/readyz")[0] == 503)
        assert _asked(running, "/readyz")[1]["detail"] == "the server is stopping"
        # It still takes new connections and answers them: a balancer may not have looked yet.
        assert _asked(running, "/healthz") == (200, {"status": "ok"})
        running.process.send_signal(signal.SIGTERM)
        until(lambda: not _listens(running))
        slow.send(body[5:])
        answer = slow.getresponse()
        assert answer.status == 201
        assert b"sent in two halves" in answer.read()
        assert running.wait() == 0


def _listens(running: Running) -> bool:
    try:
        _asked(running, "/healthz")
    except OSError:
        return False
    return True


@contextmanager
def _refused(served: Served, words: str) -> Generator[None]:
    """Make a fault in the block; see it named, and nothing else told."""
    yield
    answer = served.with_key(None).ask("GET", "/readyz")
    assert answer.status == 503
    assert answer.json == {"type": "about:blank", "status": 503, "title": "not ready", "detail": words}


def _is_ready(served: Served) -> bool:
    return served.with_key(None).ask("GET", "/readyz").status == 200


def test_a_database_that_is_away_or_has_another_schema_is_named(postgres: "PostgresDatabase", tmp_path: Path) -> None:
    import psycopg

    def administer(statement: LiteralString) -> None:
        with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
            administrator.execute(statement)

    with serving(tmp_path / "home", settings={"storage.url": postgres.url()}) as served:
        assert _is_ready(served)
        with _refused(served, "the schema lacks the newest steps; run: recollectum upgrade"):
            administer("UPDATE recollectum.migrations SET number = -number")
        administer("UPDATE recollectum.migrations SET number = -number")
        assert _is_ready(served)
        with _refused(served, "the schema needs a newer program; upgrade this server"):
            administer("UPDATE recollectum.migrations SET digest = 'another'")
        with _refused(served, "the catalog does not answer; see: recollectum doctor"):
            administer("REVOKE ALL ON ALL TABLES IN SCHEMA recollectum_catalog FROM recollectum_application")


def test_a_newer_or_missing_catalog_file_is_named(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"encryption": "off"}) as served:
        assert _is_ready(served)
        file = tmp_path / "home" / "catalog.db"
        with _refused(served, "the schema needs a newer program; upgrade this server"):
            changing = sqlite3.connect(file)
            changing.execute("INSERT INTO migrations VALUES (9999, 'later', '', 0)")
            changing.commit()
            changing.close()
        with _refused(served, "the catalog does not answer; see: recollectum doctor"):
            file.rename(file.with_name("away.db"))


def test_keys_that_are_gone_are_named(engine_settings: dict[str, object], tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings=engine_settings) as served:
        assert _is_ready(served)
        if engine_settings["encryption"] == "off":
            return
        with _refused(served, "the keys of the home cannot be opened; see: recollectum doctor"):
            keys = sqlite3.connect(tmp_path / "home" / "keys.db")
            keys.execute("DELETE FROM vault_keys")
            keys.commit()
            keys.close()
