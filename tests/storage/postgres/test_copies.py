"""A vault in a database becomes an ordinary file and comes back, with every page of rows and no number used twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.storage.copying.database_file import open_file
from recollectum.storage.copying.row_copier import digest_rows
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import ANN, engine_of

KEY = bytes(range(32))
_ROWS = 1500
_CACHED = "INSERT INTO embedding_cache (text_hash, model, data, used_at) VALUES (:hash, :model, :data, 1)"
_EVENT = """
    INSERT INTO events (at, type, subject, subject_id, actor) VALUES (1, 'created', 'memory', :id, :actor)
    RETURNING number
"""
_LAST_GOES = "DELETE FROM events WHERE number = (SELECT max(number) FROM events)"


def _no_terms(_: Tx) -> Iterator[tuple[int, str]]:
    return iter(())


def _fill(tx: Tx) -> int:
    """More rows than one page, in a table with sealed keys; the number that the last event had is free."""
    for number in range(_ROWS):
        params = {"hash": number.to_bytes(8), "model": b"m", "data": b"\x00" * (number % 7)}
        tx.run(_CACHED, params)
    number = 0
    for one in range(3):
        number = int(tx.rows(_EVENT, {"id": f"mem_{one}", "actor": "me"})[0][0])
    tx.run(_LAST_GOES, {})
    return number


@pytest.fixture(params=[None, KEY], ids=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> bytes | None:
    return request.param


@pytest.fixture
def engine(postgres: PostgresDatabase, tmp_path: Path) -> PostgresEngine:
    (tmp_path / "copy" / "vaults").mkdir(parents=True)
    return engine_of(tmp_path, postgres.url())


def test_every_page_of_rows_comes_along_and_no_number_is_used_again(
    engine: PostgresEngine, tmp_path: Path, key: bytes | None
) -> None:
    engine.create_vault("vlt_ann", ANN, key, {})
    database = engine.open_vault("vlt_ann", ANN, key)
    used = database.write(_fill)
    pages: list[int] = []
    made = engine.upkeep.copy_vault(tmp_path / "copy", "vlt_ann", key, _no_terms, pages.append)
    assert made.rows["embedding_cache"] == _ROWS
    assert sum(pages)
    file = tmp_path / "copy" / made.file
    engine.upkeep.put_vault("vlt_other", key, file, key, _no_terms)
    other = engine.open_vault("vlt_other", ANN, key)
    with open_file(file, VAULT, key) as copy:
        copied = copy.database.read(lambda tx: digest_rows(tx, copy.tables))
        assert database.read(lambda tx: digest_rows(tx, copy.tables)) == copied
        assert other.read(lambda tx: digest_rows(tx, copy.tables)) == copied
        assert copy.database.write(lambda tx: int(tx.rows(_EVENT, {"id": "mem_9", "actor": "me"})[0][0])) == used
    assert other.write(lambda tx: int(tx.rows(_EVENT, {"id": "mem_9", "actor": "me"})[0][0])) == used + 1
    for one in (database, other):
        one.close()


def test_a_name_that_is_hidden_in_a_database_is_shown_in_the_file(engine: PostgresEngine, tmp_path: Path) -> None:
    engine.create_vault("vlt_ann", ANN, KEY, {})
    database = engine.open_vault("vlt_ann", ANN, KEY)
    name = f"lines:{database.read(lambda tx: tx.stand_ins.hide('coder'))}"
    database.write(lambda tx: meta.save(tx, name, "[]"))
    made = engine.upkeep.copy_vault(tmp_path / "copy", "vlt_ann", KEY, _no_terms, lambda _: None)
    names = "SELECT name FROM meta WHERE name LIKE 'lines:%'"
    with open_file(tmp_path / "copy" / made.file, VAULT, KEY) as copy:
        assert copy.database.read(lambda tx: tx.rows(names, {})) == [("lines:coder",)]
    engine.upkeep.put_vault("vlt_ann", KEY, tmp_path / "copy" / made.file, KEY, _no_terms)
    found = database.read(lambda tx: [row[0] for row in tx.rows("SELECT name FROM meta ORDER BY name", {})])
    assert name in found
    database.close()


def test_a_copy_that_fails_half_way_leaves_no_vault(engine: PostgresEngine, tmp_path: Path) -> None:
    engine.create_vault("vlt_ann", ANN, None, {})
    made = engine.upkeep.copy_vault(tmp_path / "copy", "vlt_ann", None, _no_terms, lambda _: None)

    def fails(_: Tx) -> Iterator[tuple[int, str]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.upkeep.put_vault("vlt_new", None, tmp_path / "copy" / made.file, None, fails)
    assert engine.vault_ids() == ["vlt_ann"]
