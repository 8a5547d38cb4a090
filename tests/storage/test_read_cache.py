"""What is known of a database is read again as soon as anybody wrote to it, and not before."""

from pathlib import Path

from recollectum.storage.port import Tx
from recollectum.storage.read_cache import ReadCache
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions

_ADD = "INSERT INTO things (name) VALUES (:name)"


class Counted:
    """A question, and how often it was really asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, tx: Tx) -> int:
        self.times += 1
        return len(tx.rows("SELECT name FROM things", {}))


def database(path: Path) -> SqliteDatabase:
    opened = SqliteDatabase(path, SqliteOptions())
    opened.write(lambda tx: tx.run("CREATE TABLE IF NOT EXISTS things (name TEXT)", {}))
    return opened


def test_an_answer_is_kept_until_something_is_written_here_or_elsewhere(tmp_path: Path) -> None:
    ours, theirs = database(tmp_path / "one.db"), database(tmp_path / "one.db")
    known, asked = ReadCache(ours), Counted()
    assert [known.read("things", asked) for _ in range(5)] == [0] * 5
    assert asked.times == 1
    ours.write(lambda tx: tx.run(_ADD, {"name": "by us"}))
    assert [known.read("things", asked) for _ in range(3)] == [1] * 3
    theirs.write(lambda tx: tx.run(_ADD, {"name": "by others"}))
    assert [known.read("things", asked) for _ in range(3)] == [2] * 3
    assert asked.times == 3
    ours.close()
    theirs.close()


def test_questions_do_not_share_answers_and_none_is_an_answer(tmp_path: Path) -> None:
    opened = database(tmp_path / "one.db")
    known, asked = ReadCache(opened), Counted()
    assert known.read("none", lambda _: None) is None
    assert known.read("things", asked) == 0
    assert known.read(("things", "of another"), asked) == 0
    assert asked.times == 2
    opened.close()


def test_memory_of_it_has_an_end(tmp_path: Path) -> None:
    opened = database(tmp_path / "one.db")
    known = ReadCache(opened)
    assert [known.read(number, lambda _, number=number: number) for number in range(9000)] == list(range(9000))
    assert known.read(8999, lambda _: "anew") == 8999
    assert known.read(0, lambda _: "anew") == "anew"
    opened.close()
