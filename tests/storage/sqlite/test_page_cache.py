"""How much of a file a reader keeps in memory."""

from pathlib import Path

import pytest

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
