"""A vault file that was moved to a database is refused to everybody, whoever had it open."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Moved
from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home, prepare
from recollectum.settings.storage import StorageSettings
from recollectum.storage.places.file_moves import FileMoves
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.engine import SqliteEngine
from recollectum.storage.tables.trail import meta

_VAULT, _ANN = "vlt_1", Owner.parse("user:ann")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare(made)
    return made


@pytest.mark.parametrize("key", [None, bytes(32)], ids=["plain", "encrypted"])
def test_who_has_the_file_open_reads_and_writes_nothing_more(home: Home, key: bytes | None) -> None:
    engine, moves = SqliteEngine(home, StorageSettings(reserve_mib=0), system_clock), FileMoves(home)
    engine.create_vault(_VAULT, _ANN, key, {})
    mover, other = engine.open_vault(_VAULT, _ANN, key), engine.open_vault(_VAULT, _ANN, key)
    other.write(lambda tx: meta.save(tx, "name", "value"))
    assert other.read(lambda tx: meta.find(tx, "name")) == "value"
    assert not moves.is_moved(_VAULT, key)
    mover.write(moves.mark_moved)
    with pytest.raises(Moved):
        other.read(lambda tx: meta.find(tx, "name"))
    with pytest.raises(Moved):
        other.write(lambda tx: meta.save(tx, "name", "lost"))
    with pytest.raises(Moved):
        engine.open_vault(_VAULT, _ANN, key)
    assert moves.is_moved(_VAULT, key)
    for database in (mover, other):
        database.close()
    kept = moves.clear(_VAULT, key, system_clock(), timedelta(0))
    assert kept is not None
    assert (kept / f"{_VAULT}.db").exists()
    assert not moves.is_moved(_VAULT, key)


def test_a_mark_that_is_rolled_back_is_none(home: Home) -> None:
    engine, moves = SqliteEngine(home, StorageSettings(reserve_mib=0), system_clock), FileMoves(home)
    engine.create_vault(_VAULT, _ANN, None, {})
    vault = engine.open_vault(_VAULT, _ANN, None)

    def fail(tx: Tx) -> None:
        moves.mark_moved(tx)
        raise KeyError

    with pytest.raises(KeyError):
        vault.write(fail)
    vault.write(lambda tx: meta.save(tx, "name", "value"))
    assert vault.read(lambda tx: meta.find(tx, "name")) == "value"
    vault.close()


def test_a_file_that_was_replaced_is_not_read_through_a_new_connection(home: Home) -> None:
    engine = SqliteEngine(home, StorageSettings(reserve_mib=0), system_clock)
    engine.create_vault(_VAULT, _ANN, None, {})
    vault = engine.open_vault(_VAULT, _ANN, None)
    path = home.vaults / f"{_VAULT}.db"
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(Moved):
        vault.read(lambda tx: meta.find(tx, "name"))
    assert not path.exists()
    vault.close()
