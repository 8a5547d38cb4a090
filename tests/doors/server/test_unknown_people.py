"""A name that nobody in the home has: every door of the daemon refuses it in one sentence, and makes no vault."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from recollectum.home.daemon import Daemon, find_daemon
from recollectum.home.paths import Home
from tests.doors.cli.calls import refused
from tests.doors.mcp.stdio_requests import ENVELOPE, HELLO, request, talk
from tests.doors.server.daemons import daemon, home, home_folder

pytestmark = [pytest.mark.loopback, pytest.mark.process]
SENTENCE = "there is no user 'adda' in this home; add it first"
#: No answer over HTTP repeats what was sent.
WITHOUT_THE_NAME = "there is no user … in this home; add it first"


@pytest.fixture
def running() -> Iterator[Daemon]:
    with home() as opened:
        opened.vault("user:ada").memories.save("the harbour dinner is on the twelfth of May")
    with daemon():
        found = find_daemon(Home(home_folder()))
        assert found is not None
        yield found
    with home() as opened:
        assert [str(one) for one in opened.list_owners()] == ["user:ada"]
        assert [str(one.owner) for one in opened.people.list()] == ["user:ada"]


def _ask(found: Daemon, path: str, body: object, user: str) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {found.token}", "Recollectum-User": user, "Content-Type": "application/json"}
    asked = urllib.request.Request(found.url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_local_program_with_a_typing_error_makes_nothing(running: Daemon) -> None:
    for user in ("adda", "user:adda", "user:adda/agent:coder"):
        for path, body in (("/memory/add", {"content": "x"}), ("/memory/query", {"query": "harbour"})):
            status, told = _ask(running, path, body, user)
            assert (status, json.loads(told)["detail"]) == (404, WITHOUT_THE_NAME)
    status, told = _ask(running, "/memory/query", {"query": "harbour"}, "ada")
    assert status == 200
    assert "twelfth" in told


@pytest.mark.usefixtures("running")
def test_the_front_of_mcp_says_it_in_both_eras() -> None:
    call = {"name": "remember", "arguments": {"content": "x"}}
    modern = talk([request("tools/call", {**call, **ENVELOPE})], "--user", "adda")
    legacy = talk([request("initialize", HELLO), request("tools/call", call, 2)], "--user", "adda")
    for answer in (modern[0], legacy[-1]):
        assert answer["result"]["isError"] is True
        assert answer["result"]["content"][0]["text"] == SENTENCE


@pytest.mark.usefixtures("running")
def test_the_console_signs_nobody_in() -> None:
    assert "there is no user 'adda'" in refused("console", "--user", "adda")


def test_the_usual_person_needs_no_vault_beforehand() -> None:
    home().close()
    with daemon(environ={"RECOLLECTUM_DEFAULT_USER": "grace"}):
        found = find_daemon(Home(home_folder()))
        assert found is not None
        assert _ask(found, "/memory/add", {"content": "the first thing"}, "grace")[0] == 200
    with home() as opened:
        assert [str(one) for one in opened.list_owners()] == ["user:grace"]
