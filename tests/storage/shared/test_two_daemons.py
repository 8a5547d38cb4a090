"""Two real servers with their own homes on one database and one keys database answer as one."""

import json
from collections.abc import Generator
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from recollectum.vault.purge.request import PurgeRequest, PurgeState
from tests.doors.server.daemons import PATIENCE_SECONDS, Running, daemon
from tests.storage.shared.two_hosts import TwoHosts, hosts

__all__ = ["hosts"]
pytestmark = [pytest.mark.process, pytest.mark.loopback, pytest.mark.slow]
ANN, BEN = "user:ann", "user:ben"


def _ask(running: Running, method: str, path: str, key: str, body: object = None) -> tuple[int, Any]:
    place = urlsplit(running.url)
    connection = HTTPConnection(str(place.hostname), int(place.port or 0), timeout=PATIENCE_SECONDS)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def _texts(running: Running, key: str) -> list[str]:
    status, found = _ask(running, "GET", "/v1/memories", key)
    assert status == 200, found
    return sorted(one["content"] for one in found["memories"])


@pytest.fixture
def servers(hosts: TwoHosts) -> Generator[tuple[Running, Running]]:
    """The servers of two hosts."""
    with ExitStack() as running:
        started: list[Running] = []
        for host in ("one", "two"):
            environ = {
                **hosts.environ_with_settings(host),
                "RECOLLECTUM_HOME": str(hosts.home(host)),
                "RECOLLECTUM_KEY_FILE": str(hosts.key_file),
                "RECOLLECTUM_EMBEDDING__PROVIDER": "none",
            }
            started.append(running.enter_context(daemon(environ=environ)))
        yield started[0], started[1]


def test_what_one_server_makes_changes_and_destroys_is_so_for_the_other(
    hosts: TwoHosts, servers: tuple[Running, Running]
) -> None:
    one, two = servers
    with hosts.open("one") as home:
        keys: dict[str, str] = {}
        for owner in (ANN, BEN):
            home.people.add(owner)
            _, keys[owner] = home.keys.add(owner)
        # A vault that one server makes is used by the other at once, both ways.
        for first, second, owner in ((one, two, ANN), (two, one, BEN)):
            for text in ("the harbour is closed", "the spare key is under the third flowerpot"):
                assert _ask(first, "POST", "/v1/memories", keys[owner], {"content": text})[0] == 201
            assert _texts(second, keys[owner]) == _texts(first, keys[owner])
        # A third process of the first host erases one, and gives the vault a new key.
        vault = home.vault(ANN)
        gone = next(memory.id for memory in vault.memories.list() if "flowerpot" in memory.content)
        purge = vault.privacy.purge
        receipt = purge.run(purge.preview(PurgeRequest.memories(gone, shred=True)).token)
        assert (receipt.state, receipt.shredded) == (PurgeState.DONE, True)
    assert [_texts(running, keys[ANN]) for running in servers] == [["the harbour is closed"]] * 2
    for running in servers:
        assert _ask(running, "POST", "/v1/memories", keys[ANN], {"content": f"the pier {running.url}"})[0] == 201
    # A person whom one server erases is nobody on the other.
    _, seen = _ask(one, "POST", "/v1/purges", keys[BEN])
    status, done = _ask(one, "POST", "/v1/purges", keys[BEN], {"confirm": seen["confirm"]})
    assert (status, done["receipt"]["state"]) == (200, "done"), done
    assert _ask(two, "GET", "/v1/memories", keys[BEN])[0] == 401
    assert len(_texts(two, keys[ANN])) == 3
    # A server that is killed takes nothing with it.
    one.process.kill()
    assert len(_texts(two, keys[ANN])) == 3
    with hosts.open("two") as home:
        assert [str(entry.owner) for entry in home.admin.entries()] == [ANN]
        with hosts.keys_away():
            assert _ask(two, "GET", "/readyz", "")[0] == 503
            assert len(_texts(two, keys[ANN])) == 3
