"""A server that goes away and comes back: sentences while it lasts, then everything goes on by itself."""

import json
import os
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Busy, Unreachable
from recollectum.home.daemon import find_daemon
from recollectum.home.paths import Home
from recollectum.vault.vault import Vault
from tests.doors.server.daemons import daemon
from tests.plugins.postgres_pairs import OwnServer, wait_until

_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'recollectum'"


def _contents(vault: Vault) -> list[str]:
    return sorted(one.content for one in vault.memories.list())


def _settings(server: OwnServer) -> dict[str, object]:
    return {"storage.url": server.database.url(), "encryption": "off", "storage.busy_timeout_seconds": 0.5}


def test_a_killed_process_of_the_server_is_noticed_and_replaced(own_server: OwnServer, tmp_path: Path) -> None:
    settings = {**_settings(own_server), "storage.busy_timeout_seconds": 60}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ann")
        vault.memories.save("the car is red")
        ((first,), *_) = own_server.run(_BACKENDS, "postgres")
        # The server ends all its connections and recovers, because the process may have damaged what they share.
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: first not in _running(own_server))
        vault.memories.save("the boat is blue")
        assert _contents(vault) == ["the boat is blue", "the car is red"]


def _running(server: OwnServer) -> set[int]:
    import psycopg

    try:
        return {row[0] for row in server.run(_BACKENDS, "postgres")}
    except psycopg.OperationalError:
        return set()


def test_a_server_that_is_gone_and_comes_back(own_server: OwnServer, tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_settings(own_server)) as home:
        vault = home.vault("user:ann")
        vault.memories.save("the car is red")
        for end in (own_server.kill, own_server.stop):
            end()
            with pytest.raises((Unreachable, Busy), match=r"cannot be reached|was lost|starting or stopping"):
                vault.memories.save("the boat is blue")
            with pytest.raises((Unreachable, Busy)):
                vault.recall("red car")
            own_server.start()
            assert [hit.text for hit in vault.recall("red car")] == ["the car is red"]
            assert _contents(vault) == ["the car is red"]
        vault.memories.save("the boat is blue")
        assert len(_contents(vault)) == 2


@pytest.mark.loopback
def test_the_http_door_says_when_to_try_again(own_server: OwnServer, tmp_path: Path) -> None:
    settings = _settings(own_server)
    variables = {f"RECOLLECTUM_{name.upper().replace('.', '__')}": str(value) for name, value in settings.items()}
    folder = tmp_path / "home"
    with Recollectum(folder, settings=settings) as home:
        home.people.add("user:ann")
    with daemon(environ={**variables, "RECOLLECTUM_HOME": str(folder)}):
        found = find_daemon(Home(folder))
        assert found
        headers = {
            "Authorization": f"Bearer {found.token}",
            "Recollectum-User": "ann",
            "Content-Type": "application/json",
        }

        def save(text: str) -> int:
            body = json.dumps({"content": text}).encode()
            with urllib.request.urlopen(
                urllib.request.Request(f"{found.url}/v1/memories", body, headers), timeout=60
            ) as answer:
                return int(answer.status)

        assert save("the car is red") in (200, 201)
        own_server.kill()
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as refused:
                save("the boat is blue")
            assert refused.value.code == 503
            assert int(refused.value.headers["Retry-After"]) > 0
            told = json.loads(refused.value.read())
            assert str(own_server.place) not in str(told)
        own_server.start()
        assert save("the boat is blue") in (200, 201)
