"""Journey 10: a home of an earlier version is upgraded, after a look at what would happen, and loses nothing."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.journeys.machines import Machine
from tests.upgrades.rows import KEPT, OWNER
from tools.upgrade_databases import stored

pytestmark = pytest.mark.process


@pytest.fixture(name="old_home")
def fixture_old_home(tmp_path: Path) -> Machine:
    """A machine whose vault was written by a version of some months ago."""
    machine = Machine(tmp_path / "old", RECOLLECTUM_ENCRYPTION="off", RECOLLECTUM_USER=str(OWNER))
    machine.does("recollectum init")
    (vault,) = (machine.home / "vaults").glob("*.db")
    vault.write_bytes(gzip.decompress(stored("vault", 12).read_bytes()))
    return machine


def _schema(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()


def test_an_old_home_is_upgraded_after_a_look_and_keeps_what_it_held(old_home: Machine) -> None:
    (vault,) = (old_home.home / "vaults").glob("*.db")
    before = _schema(vault)
    assert " would take 0013 " in old_home.does("recollectum upgrade --dry-run")
    assert _schema(vault) == before
    old_home.does("recollectum upgrade")
    assert KEPT in old_home.does("recollectum memories show mem_1")
    # The file as it was is kept beside it.
    saved = [
        path for path in old_home.home.rglob("*") if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"
    ]
    assert [path for path in saved if path not in (vault, old_home.home / "catalog.db") and _schema(path) == before]
