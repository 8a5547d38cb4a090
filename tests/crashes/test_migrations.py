"""A change of schema is made whole or not at all, after a backup, and never to a file it does not understand."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from recollectum.domain.errors import SchemaEdited, SchemaNewer, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import Migration, migrate, pending
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import Seen, look
from tests.crashes.made_up_steps import STEPS
from tests.crashes.programs import finish, hear, run, start, tell
from tests.crashes.scribe import Scribe
from tests.crashes.standing import standing

pytestmark = pytest.mark.process

_PROGRAM = "tests.crashes.migrating_program"
_KEY = bytes(range(32))
_OPTIONS = SqliteOptions(key=_KEY)
_SHIPPED = STEPS[:-2]


@dataclass(frozen=True, slots=True)
class _State:
    """A vault's schema, its ledger of steps, and what it says."""

    schema: frozenset[str]
    applied: tuple[int, ...]
    seen: Seen


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A vault of the shipped schema with something in it."""
    path = tmp_path / "vault.db"
    with standing(path, _OPTIONS) as at:
        scribe = Scribe(at.vault, "ann", random.Random(3))
        for _ in range(40):
            scribe.step()
    return path


def _state(path: Path) -> _State:
    database = SqliteDatabase(path, _OPTIONS)
    try:
        assert disagreements(database) == []
        rows = database.read(lambda tx: tx.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", {}))
        numbers = database.read(lambda tx: tx.rows("SELECT number FROM migrations ORDER BY number", {}))
        return _State(frozenset(sql for (sql,) in rows), tuple(n for (n,) in numbers), database.read(look))
    finally:
        database.close()


def _migrate(path: Path, steps: Sequence[Migration]) -> tuple[list[str], tuple[Migration, ...]]:
    """Migrate the file; the backups that were made, and the steps that ran."""
    made: list[str] = []
    database = SqliteDatabase(path, _OPTIONS)

    def backup(name: str) -> None:
        back_up(database, path.with_name(name), key=_KEY)
        made.append(name)

    try:
        return made, migrate(database, steps, clock=system_clock, backup=backup)
    finally:
        database.close()


def test_killed_anywhere_the_schema_is_the_old_or_the_new(filled: Path) -> None:
    said = dict(line.split() for line in run(_PROGRAM, "killed", str(filled.parent), _KEY.hex()))
    # Each of the eight statements of the steps, and their BEGIN, ledger, record and COMMIT.
    assert int(said["statement"]) >= 16
    assert int(said["tick"]) >= 5
    killed = sorted(filled.parent.glob("*/vault.db"))
    assert len(killed) == int(said["statement"]) + int(said["tick"])

    whole = [_state(filled)]
    for end in (-1, len(STEPS)):
        _migrate(filled, STEPS[:end])
        whole.append(_state(filled))
    left: set[int] = set()
    for path in killed:
        left.add(whole.index(_state(path)))
        _migrate(path, STEPS)
        assert _state(path) == whole[-1]
    assert left == {0, 1, 2}


def test_a_backup_is_made_before_the_first_step_and_opens_with_the_same_key(filled: Path) -> None:
    before = _state(filled)
    made, ran = _migrate(filled, STEPS)
    assert made == ["before-1001"]
    assert ran == STEPS[-2:]
    assert _state(filled.with_name("before-1001")) == before
    assert filled.with_name("before-1001").stat().st_mode & 0o777 == 0o600


def test_with_nothing_to_do_nothing_is_backed_up(filled: Path) -> None:
    before = _state(filled)
    assert _migrate(filled, _SHIPPED) == ([], ())
    assert _state(filled) == before


def test_a_step_that_fails_leaves_the_old_schema(filled: Path) -> None:
    before = _state(filled)
    broken = Migration(1001, "broken", "ALTER TABLE memories ADD COLUMN mood TEXT; SELECT no_such_thing")
    with pytest.raises(StorageError) as caught:
        _migrate(filled, (*_SHIPPED, broken))
    assert str(filled) in str(caught.value)
    assert _state(filled) == before


def test_an_edited_step_is_refused_in_words(filled: Path) -> None:
    edited = (replace(STEPS[0], sql=STEPS[0].sql + "-- later thoughts"), *STEPS[1:])
    with pytest.raises(SchemaEdited) as caught:
        _migrate(filled, edited)
    assert str(filled) in str(caught.value)
    assert "install the release" in str(caught.value)


def test_a_newer_file_is_refused_in_words(filled: Path) -> None:
    _migrate(filled, STEPS)
    after = _state(filled)
    with pytest.raises(SchemaNewer) as caught:
        _migrate(filled, _SHIPPED)
    assert str(filled) in str(caught.value)
    assert "upgrade the program" in str(caught.value)
    assert _state(filled) == after


def test_the_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "vault.db"
    other = connect(path)
    other.execute("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('about:blank')")
    other.close()
    database = SqliteDatabase(path, SqliteOptions())
    with pytest.raises(StorageError) as caught:
        migrate(database, STEPS, clock=system_clock, backup=lambda name: None)
    assert str(path) in str(caught.value)
    assert "not one of Recollectum's" in str(caught.value)
    assert database.read(lambda tx: tx.rows("SELECT name FROM sqlite_schema", {})) == [("bookmarks",)]
    database.close()


def test_what_is_pending_can_be_asked_without_doing_it(filled: Path) -> None:
    before = _state(filled)
    database = SqliteDatabase(filled, _OPTIONS)
    assert pending(database, STEPS) == STEPS[-2:]
    database.close()
    assert _state(filled) == before


@pytest.mark.parametrize("attempt", range(3))
def test_two_processes_that_migrate_at_once_both_succeed(filled: Path, attempt: int) -> None:
    before = _state(filled)
    children = [start(_PROGRAM, "beside", str(filled.parent), _KEY.hex()) for _ in range(2)]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    assert [finish(child) for child in children] == [["done"], ["done"]]
    assert _state(filled).applied == tuple(step.number for step in STEPS)
    assert _state(filled.with_name("before-1001")).seen == before.seen


def test_a_backup_is_of_the_old_schema_also_when_another_process_was_quicker(filled: Path) -> None:
    before = _state(filled)
    database = SqliteDatabase(filled, _OPTIONS)

    def backup(name: str) -> None:
        # Between our look at what is pending and our backup, somebody else does all of it.
        _migrate(filled, STEPS)
        back_up(database, filled.with_name(name), key=_KEY)

    migrate(database, STEPS, clock=system_clock, backup=backup)
    database.close()
    assert _state(filled).applied == tuple(step.number for step in STEPS)
    assert _state(filled.with_name("before-1001")) == before
