"""Moving a home between engines on the command line."""

import os
from pathlib import Path

import pytest

from recollectum.home.paths import home_root
from tests.doors.cli.calls import ok, refused
from tests.plugins.postgres import PostgresDatabase, words_in_rows

pytestmark = pytest.mark.process


def _settings() -> str:
    return (home_root(None, os.environ) / "settings.toml").read_text()


def test_a_home_moves_to_the_database_of_a_variable_and_back(
    home: None, postgres: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("remember", "tea is drunk with milk")
    monkeypatch.setenv("MEMORY_URL", postgres.url())
    assert "would move 1 vault to the database" in ok("move", "--to", "${MEMORY_URL}", "--dry-run").out
    moved = ok("move", "--to", "${MEMORY_URL}", "--json").json
    assert (moved["vaults"], moved["copied"], moved["catalog"], moved["to"]) == (1, 1, True, "the database")
    assert "${MEMORY_URL}" in _settings()
    assert postgres.url() not in _settings()
    assert all(Path(kept).exists() for kept in moved["kept"])
    assert "tea is drunk with milk" in ok("recall", "tea").out
    back = ok("move", "--to", "files")
    assert "1 vault moved to files, 1 copied now, and the catalog" in back.out
    assert words_in_rows(postgres, "user:local", "vlt_") == set()
    assert "MEMORY_URL" not in _settings()
    assert "tea is drunk with milk" in ok("recall", "tea").out


def test_the_vault_of_one_person_moves_alone(home: None, postgres: PostgresDatabase) -> None:
    ok("users", "add", "alice")
    ok("users", "add", "ben")
    ok("remember", "tea is drunk with milk", "--user", "alice")
    ok("remember", "coffee is drunk black", "--user", "ben")
    moved = ok("move", "--to", postgres.url(), "--owner", "user:alice", "--json").json
    assert (moved["vaults"], moved["copied"], moved["catalog"]) == (1, 1, False)
    assert postgres.name in ok("status", "--user", "alice").out
    assert "tea is drunk with milk" in ok("recall", "tea", "--user", "alice").out
    assert "coffee is drunk black" in ok("recall", "coffee", "--user", "ben").out
    assert "there is no vault of 'user:nobody'" in refused("move", "--to", "files", "--owner", "nobody")
    assert "is in that database already" in refused("move", "--to", postgres.url(), "--user", "alice")
    assert "1 vault moved to files, 1 copied now" in ok("move", "--to", "files", "--user", "alice").out
    assert "url" not in _settings()
    assert "tea is drunk with milk" in ok("recall", "tea", "--user", "alice").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say where to move the vaults"),
        (("--to", "mysql://root:s3cret@here/x"), "neither `files` nor an address"),
        (("--to", "${NO_SUCH_VARIABLE}"), "NO_SUCH_VARIABLE"),
    ],
)
def test_a_place_that_is_none_is_refused_in_one_sentence(home: None, arguments: tuple[str, ...], said: str) -> None:
    ok("remember", "tea is drunk with milk")
    sentence = refused("move", *arguments, code=2)
    assert said in sentence
    assert "s3cret" not in sentence
