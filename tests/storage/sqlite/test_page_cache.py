"""How much of a file a reader keeps in memory."""

from pathlib import Path

import apsw
import pytest

from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions


@pytest.mark.parametrize(("mebibytes", "kept"), [(1, 64), (8, 227)])
def test_a_reader_keeps_what_the_settings_say_and_more_of_a_large_file(
    tmp_path: Path, mebibytes: int, kept: int
) -> None:
    path = tmp_path / "vault.db"
    filled = SqliteDatabase(path, SqliteOptions())
    filled.write(lambda tx: tx.run("CREATE TABLE filler (data BLOB)", {}))
    filled.write(lambda tx: tx.run("INSERT INTO filler VALUES (zeroblob(:size))", {"size": mebibytes * 2**20}))
    filled.close()
    database = SqliteDatabase(path, SqliteOptions(cache_kib=64))
    ((said,),) = database.read(lambda tx: tx.rows("PRAGMA cache_size", {}))
    database.close()
    assert kept <= -said <= kept + 8


def test_what_is_read_once_is_not_kept(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "vault.db", SqliteOptions(cache_kib=8192))
    database.write(lambda tx: tx.run("CREATE TABLE filler (number INTEGER PRIMARY KEY, data BLOB)", {}))
    rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4096)"
    database.write(lambda tx: tx.run(f"INSERT INTO filler {rows} SELECT i, zeroblob(1000) FROM n", {}))

    def read(tx: Tx) -> list[int]:
        sizes = [tx.rows("PRAGMA cache_size", {})[0][0]]
        before = apsw.memory_used()
        with tx.reading_once():
            tx.rows("SELECT max(data) FROM filler", {})
            sizes.append(apsw.memory_used() - before)
        tx.rows("SELECT max(data) FROM filler", {})
        return [*sizes, apsw.memory_used() - before, tx.rows("PRAGMA cache_size", {})[0][0]]

    configured, once, usual, after = database.read(read)
    database.close()
    assert once < 2**20 < 4 * 2**20 <= usual
    assert configured == after
