"""`recollectum console`: a link from the daemon that runs, and one sentence where there is none."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from recollectum.home.daemon import Daemon, daemon_lock, remove_daemon, write_daemon
from tests.doors.cli.calls import ok, refused
from tests.doors.console.servers import TOKEN, Place

pytestmark = [pytest.mark.loopback, pytest.mark.process]


@contextmanager
def _as_daemon(place: Place, token: str = TOKEN, url: str = "") -> Generator[str]:
    """The test's server as the daemon of its home; the home's folder."""
    home = place.home.home
    with daemon_lock(home):
        write_daemon(home, Daemon(url or place.url, os.getpid(), token, place.clock()))
        try:
            yield str(home.root)
        finally:
            remove_daemon(home)


def test_the_command_prints_a_link_that_signs_in(place: Place) -> None:
    with _as_daemon(place) as root:
        plain = ok("console", "--user", "ada", "--home", root)
        told = ok("console", "--user", "ada", "--home", root, "--json").json
    assert plain.out.strip().startswith(f"{place.url}/login?link=")
    assert "once, within 5 minutes" in plain.err
    assert (told["user"], told["expires_in"]) == ("ada", 300)
    with place.client() as client:
        entered = client.post("/login", data={"link": told["url"].partition("link=")[2]})
        assert entered.status_code == 303
        assert "ada" in client.get("/").text


def test_the_user_is_the_one_of_the_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_USER", "bob")
    with _as_daemon(place) as root:
        assert ok("console", "--home", root, "--json").json["user"] == "bob"


def test_who_is_not_there_gets_a_sentence(place: Place) -> None:
    with _as_daemon(place) as root:
        assert "there is no user 'eve'" in refused("console", "--user", "eve", "--home", root)
        assert "name a user" in refused("console", "--user", "agent:coder", "--home", root)


def test_a_wrong_token_and_a_dead_address_are_sentences(place: Place) -> None:
    with _as_daemon(place, token="x" * 43) as root:
        assert "status 401" in refused("console", "--user", "ada", "--home", root)
    with _as_daemon(place, url="http://127.0.0.1:9") as root:
        assert "does not answer" in refused("console", "--user", "ada", "--home", root)


def test_without_a_daemon_the_cure_is_told(tmp_path: Path) -> None:
    sentence = refused("console", "--user", "ada", "--home", str(tmp_path / "home"))
    assert "start it with: recollectum serve" in sentence


def test_what_is_not_ours_behind_the_address_is_noticed(place: Place) -> None:
    # The page for signing in answers every method but with no link.
    with _as_daemon(place, url=f"{place.url}/static") as root:
        assert "status" in refused("console", "--user", "ada", "--home", root)
    with httpx2.Client(base_url=place.url, trust_env=False) as client:
        assert client.get("/login").status_code == 200
