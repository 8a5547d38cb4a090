"""The same commands and the same API work on PostgreSQL, from the empty database on."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.plugins.postgres import MIGRATOR, PostgresDatabase
from tests.storage.postgres.engines import administer


def _run(*words: str, **variables: str) -> str:
    return _ended(0, words, variables)


def _ended(code: int, words: Sequence[str], variables: Mapping[str, str]) -> str:
    """What a command prints that ends with this code."""
    done = subprocess.run(
        [sys.executable, "-m", "recollectum", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_memory_is_saved_found_and_forgotten(postgres: PostgresDatabase, tmp_path: Path, encryption: str) -> None:
    settings = {"storage.url": postgres.url(), "encryption": encryption}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ann")
        saved = vault.memories.save("the car is red").memory
        vault.sessions.open().add("user", "my boat is blue")
        assert [hit.text for hit in vault.recall("red car")] == ["the car is red"]
        assert "my boat is blue" in [hit.text for hit in vault.recall("boat")]
        assert not home.vault("user:bob").recall("red car boat")
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ann")
        assert vault.memories.get(saved.id) == saved
        vault.memories.forget(saved.id)
        assert not vault.recall("red car")


def test_the_command_line_from_an_empty_database_on(postgres: PostgresDatabase, tmp_path: Path) -> None:
    administer(postgres, "DROP SCHEMA recollectum CASCADE")
    administer(postgres, "DROP SCHEMA recollectum_catalog CASCADE")
    secret = secrets.token_hex(8)
    url = postgres.url() + f"&password={secret}"
    home = {
        "RECOLLECTUM_HOME": str(tmp_path / "home"),
        "RECOLLECTUM_STORAGE__URL": url,
    }
    migrator = {"RECOLLECTUM_STORAGE__MIGRATOR_URL": postgres.url(MIGRATOR)}
    assert "would take catalog" in _run("upgrade", "--dry-run", **home, **migrator)
    assert "took vault" in _run("upgrade", **home, **migrator)
    assert "has every step of this program" in _run("upgrade", **home, **migrator)
    _run("init", **home)
    _run("remember", "the car is red", **home)
    found = json.loads(_run("recall", "red car", "--json", **home))
    assert "the car is red" in json.dumps(found)
    shown = _run("settings", "show", **home) + _run("settings", "show", "--json", **home)
    assert "password=***" in shown
    assert secret not in shown
    assert "postgresql://" in _run("status", **home)
    # The servers of the tests are as quick as they can be, and the doctor warns of that.
    doubts = [line for line in _ended(3, ["doctor"], home).splitlines() if line.startswith(("warning", "problem"))]
    assert {line.split(":")[0] for line in doubts} == {"warning  durability"}
