"""Databases of other programs: read as they are, and left as they were."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.storage.foreign.database import ForeignDatabase
from recollectum.storage.foreign.places import places_below


def _made(path: Path, *, wal: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    if wal:
        db.execute("PRAGMA journal_mode = wal")
    db.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, who TEXT, text TEXT)")
    db.executemany("INSERT INTO said (who, text) VALUES (?, ?)", [("ann", "teal"), ("bob", "red"), ("ann", "blue")])
    db.execute("CREATE VIEW everything AS SELECT * FROM said")
    db.commit()
    return db


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_rows_are_chosen_and_ordered(tmp_path: Path) -> None:
    _made(tmp_path / "a.db").close()
    with ForeignDatabase(tmp_path / "a.db") as database:
        assert database.tables() == {"said": frozenset({"id", "who", "text"})}
        assert list(database.rows("said", ("text",), where={"who": "ann"}, order=("text",))) == [("blue",), ("teal",)]
        assert list(database.rows("said", ("id",), starts=("text", "re"))) == [(2,)]
        assert list(database.rows("said", ("id",), where={"who": None})) == []


def test_no_file_is_made_beside_a_database_with_a_log(tmp_path: Path) -> None:
    _made(tmp_path / "a.db", wal=True).close()
    assert _files(tmp_path) == {"a.db"}
    with ForeignDatabase(tmp_path / "a.db") as database:
        assert len(list(database.rows("said", ("id",)))) == 3
        assert _files(tmp_path) == {"a.db"}
    assert _files(tmp_path) == {"a.db"}


def test_what_its_program_is_writing_is_read_too(tmp_path: Path) -> None:
    writer = _made(tmp_path / "a.db", wal=True)
    before = _files(tmp_path)
    assert "a.db-wal" in before
    with ForeignDatabase(tmp_path / "a.db") as database:
        assert len(list(database.rows("said", ("id",)))) == 3
        writer.execute("INSERT INTO said (who, text) VALUES ('eve', 'green')")
        writer.commit()
        assert len(list(database.rows("said", ("id",)))) == 4
    assert _files(tmp_path) == before
    writer.close()


def test_a_log_without_its_index_is_refused_with_the_cure(tmp_path: Path) -> None:
    writer = _made(tmp_path / "a.db", wal=True)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):
        shutil.copy(tmp_path / name, copy / name)
    writer.close()
    with pytest.raises(InvalidInput, match="open it once with its own program"):
        ForeignDatabase(copy / "a.db")
    assert _files(copy) == {"a.db", "a.db-wal"}


def test_a_damaged_database_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"SQLite format 3\x00" + os.urandom(5000))
    with pytest.raises(InvalidInput, match="it is damaged or encrypted"), ForeignDatabase(path) as database:
        database.tables()


def test_names_are_quoted(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "a.db")
    db.execute('CREATE TABLE "od""d" ("co l" TEXT)')
    db.execute("""INSERT INTO "od""d" VALUES ('x')""")
    db.commit()
    db.close()
    with ForeignDatabase(tmp_path / "a.db") as database:
        assert list(database.rows('od"d', ("co l",))) == [("x",)]


def test_links_are_no_places(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".codex/sessions").symlink_to(tmp_path / "elsewhere")
    assert places_below(tmp_path, {}) == []
