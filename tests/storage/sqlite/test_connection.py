"""The index of a log is read only while this process does not have the database open."""

import threading
from pathlib import Path

import apsw

from recollectum.storage.sqlite.connection import connect, read_log_index


def test_a_connection_that_is_busy_elsewhere_hinders_nobody(tmp_path: Path) -> None:
    busy, other = connect(tmp_path / "busy.db"), tmp_path / "other.db"
    (tmp_path / "other.db-shm").write_bytes(b"index")
    begun, over = threading.Event(), threading.Event()

    def wait(*_: object) -> int:
        begun.set()
        over.wait(30)
        return 0

    busy.create_scalar_function("wait", wait)
    working = threading.Thread(target=lambda: busy.execute("SELECT wait(1)").fetchall())
    working.start()
    try:
        assert begun.wait(30)
        assert read_log_index(other, 100) == b"index"
        assert read_log_index(tmp_path / "busy.db", 100) is None
    finally:
        over.set()
        working.join()
        busy.close()


def test_a_link_to_an_open_database_counts_as_open(tmp_path: Path) -> None:
    opened: apsw.Connection = connect(tmp_path / "vault.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "vault.db")
    (tmp_path / "link.db-shm").write_bytes(b"index")
    assert read_log_index(tmp_path / "link.db", 100) is None
    opened.close()
    assert read_log_index(tmp_path / "link.db", 100) == b"index"


def test_a_statement_is_compiled_once_whatever_values_it_gets(tmp_path: Path) -> None:
    connection = connect(tmp_path / "vault.db")
    connection.execute("CREATE TABLE one (kind TEXT, number INTEGER); CREATE INDEX one_kind ON one (kind, number)")
    compiled: list[int] = []

    def note(action: int, *_: object) -> int:
        compiled.append(action)
        return apsw.SQLITE_OK

    connection.authorizer = note
    counts: list[int] = []
    for kind in ("a", "b", "c"):
        sql = "SELECT number FROM one WHERE kind = ? AND number < ? ORDER BY number LIMIT ?"
        connection.execute(sql, (kind, 5, 1)).fetchall()
        counts.append(len(compiled))
    connection.close()
    assert counts[0] > 0
    assert counts == [counts[0]] * 3
