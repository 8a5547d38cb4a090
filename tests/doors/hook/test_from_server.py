"""Hooks and MCP of a machine that uses a server: what they are told, what they send, and what stays on this machine."""

import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from recollectum.home.credentials.connection import Connection, store_connection
from recollectum.home.paths import Home
from tests.doors.cli.calls import ok, refused
from tests.doors.hook.calls import event, patient
from tests.doors.http.served import Served, serving
from tests.vault.transcript_files import append, lines

pytestmark = [pytest.mark.loopback, pytest.mark.process]
_numbers = count()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("server") / "home") as made:
        yield made


@pytest.fixture
def person() -> str:
    return f"ada{next(_numbers)}"


@pytest.fixture
def server(running: Served, person: str) -> Served:
    """The server, to which this machine is connected as the test's own person."""
    served = running.with_key(running.new_key(f"user:{person}"))
    url = f"http://127.0.0.1:{served.port}"
    home = Home(Path(os.environ["RECOLLECTUM_HOME"]))
    store_connection(home, Connection(url=url, key=str(served.secret), person=f"user:{person}"))
    return served


def _recorded(server: Served, person: str, least: int) -> list[str]:
    """What the vault of a person has of conversations, as soon as there is enough."""
    vault = server.home.vault(f"user:{person}")
    give_up = time.monotonic() + 60
    while True:
        said = [one for talk in vault.sessions.list() for one in vault.sessions.chat(talk.id).messages(limit=100)]
        if len(said) >= least:
            return [one.text for one in said]
        assert time.monotonic() < give_up, said
        time.sleep(0.05)


def test_an_agent_is_told_what_the_server_knows_and_its_words_are_kept_there(
    server: Served, person: str, tmp_path: Path
) -> None:
    server.home.vault(f"user:{person}").memories.save("The harbour dinner is on the twelfth of May.")
    file = tmp_path / "talk.jsonl"
    append(file, lines(range(2)))
    asked = event("UserPromptSubmit", prompt="when is the harbour dinner?", transcript_path=str(file), cwd="/home/x")
    assert "twelfth of May" in patient(asked, "--user", person).context
    # Nothing is told twice, and what the server told is no new text.
    assert "twelfth of May" not in patient(asked).context
    assert patient(event("Stop", transcript_path=str(file))).out == b"{}\n"
    first = _recorded(server, person, 2)
    append(file, lines(range(2, 3)))
    assert patient(event("SessionEnd", transcript_path=str(file))).out == b"{}\n"
    whole = _recorded(server, person, 3)
    assert (len(first), len(whole), len(set(whole))) == (2, 3, 3)
    assert not list(Path(os.environ["RECOLLECTUM_HOME"]).glob("*.db"))


def test_a_prompt_without_a_file_is_kept_at_once(server: Served, person: str) -> None:
    assert patient(event("UserPromptSubmit", prompt="Where is the station?")).code == 0
    assert patient(event("Stop", last_assistant_message="Two streets away.")).code == 0
    assert sorted(_recorded(server, person, 2)) == ["Two streets away.", "Where is the station?"]


def test_the_server_reads_no_file_and_answers_from_the_keys_own_vault(server: Served, person: str) -> None:
    server.home.vault("user:bob").memories.save("The harbour dinner is a secret of bob.")
    asked = {"agent": "claude-code", "user": "bob", "event": event("UserPromptSubmit", prompt="harbour dinner")}
    told = server.ask("POST", "/v1/hook", asked)
    assert (told.status, b"secret" in told.body) == (200, False)
    stop = {"event": event("Stop", transcript_path="/etc/passwd"), "user": "bob"}
    assert server.ask("POST", "/v1/hook", stop).json == {}
    assert server.with_key(None).ask("POST", "/v1/hook", asked).status == 401
    assert server.ask("POST", "/hook", asked).status == 401
    assert server.ask("POST", "/v1/hook", b"[]").status == 422
    assert not server.home.vault("user:bob").sessions.list()
    assert not server.home.vault(f"user:{person}").sessions.list()


def test_a_hook_of_another_person_does_not_mix_with_this_one(server: Served, person: str) -> None:
    server.home.vault(f"user:{person}").memories.save("The harbour dinner is on the twelfth of May.")
    asked = event("UserPromptSubmit", prompt="when is the harbour dinner?")
    assert patient(asked, "--user", "bob").out == b"{}\n"
    log = Path(os.environ["RECOLLECTUM_HOME"]) / "run" / "hook.log"
    assert "recollectum mcp install claude-code" in log.read_text()
    assert not server.home.vault(f"user:{person}").sessions.list()


def test_a_server_that_is_gone_delays_and_breaks_nothing() -> None:
    home = Home(Path(os.environ["RECOLLECTUM_HOME"]))
    store_connection(home, Connection(url="http://127.0.0.1:1", key="rk_" + "x" * 40))
    assert patient(event("UserPromptSubmit", prompt="hello")).out == b"{}\n"


def test_install_stores_the_key_in_the_home_and_in_no_file_of_the_agent(running: Served, tmp_path: Path) -> None:
    secret = running.new_key("user:cleo")
    url = f"http://127.0.0.1:{running.port}"
    ok("mcp", "install", "claude-code", "--yes", "--url", url, "--key", "-", stdin=secret.encode())
    account = Path(os.environ["HOME"])
    written = [one.read_text() for one in account.rglob("*") if one.is_file()]
    assert written
    assert not [text for text in written if secret in text or "--user" in text]
    assert any("--within 900" in text for text in written)
    assert ok("connect", "--json").json["person"] == "cleo"
    assert "give both" in refused("mcp", "install", "claude-code", "--key", "x", code=2)
    assert "does not go with --dry-run" in refused("mcp", "install", "codex", "--url", url, "--dry-run", code=2)
