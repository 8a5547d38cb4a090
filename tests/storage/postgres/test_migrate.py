"""The schema on PostgreSQL: steps run once, one migrator at a time, and only by the migrator."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Busy, SchemaEdited, SchemaNewer, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.postgres import migrate
from recollectum.storage.postgres.connections.schema_watch import SchemaWatch
from recollectum.storage.postgres.migrate import SchemaStep, newer, pending, shipped, upgrade
from recollectum.upkeep.backup.backup import back_up
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase
from tests.storage.postgres.engines import administer, engine_of, vault_of

_EMPTY = "DROP SCHEMA recollectum CASCADE", "DROP SCHEMA recollectum_catalog CASCADE"


@pytest.fixture
def empty(postgres: PostgresDatabase) -> PostgresDatabase:
    """A database with the roles and nothing else."""
    with psycopg.connect(postgres.administrator_url, autocommit=True) as connection:
        for statement in _EMPTY:
            connection.execute(statement)
    return postgres


def _upgrade(database: PostgresDatabase, waiting: timedelta = timedelta(seconds=60)) -> tuple[SchemaStep, ...]:
    with psycopg.connect(database.migrator_url, autocommit=True) as connection:
        return upgrade(connection, clock=system_clock, waiting=waiting)


def test_an_empty_database_gets_every_step_once(empty: PostgresDatabase) -> None:
    assert _upgrade(empty) == shipped()
    assert _upgrade(empty) == ()
    with psycopg.connect(empty.url()) as connection:
        assert pending(connection) == ()


def test_of_two_migrators_at_a_time_one_works(empty: PostgresDatabase) -> None:
    with ThreadPoolExecutor(2) as pool:
        ran = [step for steps in pool.map(_upgrade, [empty, empty]) for step in steps]
    assert sorted(step.label for step in ran) == sorted(step.label for step in shipped())


def test_a_migrator_that_cannot_get_the_lock_says_so_and_changes_nothing(empty: PostgresDatabase) -> None:
    with psycopg.connect(empty.migrator_url) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(7265636111)")
        with pytest.raises(Busy, match="another upgrade or a long transaction runs"):
            _upgrade(empty, timedelta(milliseconds=50))
    with psycopg.connect(empty.url()) as connection:
        assert pending(connection) == shipped()


def test_the_application_cannot_migrate(empty: PostgresDatabase) -> None:
    with (
        psycopg.connect(empty.url(), autocommit=True) as connection,
        pytest.raises(StorageError, match=f"{APPLICATION_LOGIN} may not change the schema"),
    ):
        upgrade(connection, clock=system_clock)


def test_a_schema_of_a_newer_program_is_refused(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url, autocommit=True) as connection:
        connection.execute("INSERT INTO recollectum.migrations VALUES (9999, 'later', 'digest', 0)")
    with pytest.raises(SchemaNewer, match="step 9999"):
        _upgrade(postgres)


def test_a_step_that_was_edited_after_it_ran_is_refused(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url, autocommit=True) as connection:
        connection.execute("UPDATE recollectum.migrations SET digest = 'another'")
    with pytest.raises(SchemaEdited, match="is not the step that was applied"):
        _upgrade(postgres)


_KNOWN = {family: max(step.number for step in shipped() if step.family == family) for family in (CATALOG, VAULT)}
_LATER = "INSERT INTO {}.migrations (number, name, digest, applied_at, oldest) VALUES ({}, 'later', 'digest', 0, {})"


def _add_later(database: PostgresDatabase, schema: str, oldest: int | str, number: int = 9999) -> None:
    administer(database, _LATER.format(schema, number, oldest))


@pytest.mark.parametrize(
    ("text", "oldest"),
    [
        ("SELECT 1;", 9),
        ("-- What it does.\n\n-- oldest: 0007\nSELECT 1;", 7),
        ("-- oldest: 0007\n-- What it does.\nSELECT 1;", 7),
        ("SELECT 1;\n-- oldest: 0007\n", 9),
        ("-- oldest: 7\nSELECT 1;", 9),
        ("-- not the oldest: 0007\nSELECT 1;", 9),
    ],
)
def test_a_step_names_the_oldest_program_before_its_first_statement(text: str, oldest: int) -> None:
    assert SchemaStep(VAULT, 9, "one", text).oldest == oldest


def test_no_shipped_step_names_a_program_that_is_newer_than_itself() -> None:
    assert all(0 < step.oldest <= step.number for step in shipped())


def test_the_ledger_has_the_oldest_program_of_each_step(empty: PostgresDatabase) -> None:
    _upgrade(empty)
    for family, schema in ((CATALOG, "recollectum_catalog"), (VAULT, "recollectum")):
        rows = administer(empty, f"SELECT number, oldest FROM {schema}.migrations ORDER BY number")
        assert rows == [(step.number, step.oldest) for step in shipped() if step.family == family]


def test_a_ledger_from_before_that_column_is_read_and_gets_it_with_the_next_step(
    postgres: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    administer(postgres, "ALTER TABLE recollectum.migrations DROP COLUMN oldest")
    with psycopg.connect(postgres.url()) as connection:
        assert pending(connection) == ()
    more = SchemaStep(VAULT, 9999, "more", "-- oldest: 0001\nSELECT 1;")
    monkeypatch.setattr(migrate, "shipped", lambda: (*shipped(), more))
    assert _upgrade(postgres) == (more,)
    rows = administer(postgres, "SELECT number, oldest FROM recollectum.migrations ORDER BY number DESC LIMIT 2")
    assert rows == [(9999, 1), (_KNOWN[VAULT], None)]


@pytest.mark.parametrize(("schema", "family"), [("recollectum", VAULT), ("recollectum_catalog", CATALOG)])
def test_an_older_program_goes_on_beside_a_step_that_allows_it(
    postgres: PostgresDatabase, schema: str, family: str, tmp_path: Path
) -> None:
    _add_later(postgres, schema, _KNOWN[family])
    with psycopg.connect(postgres.url()) as connection:
        assert pending(connection) == ()
        assert newer(connection) == (f"{family} 9999 later",)
    assert _upgrade(postgres) == ()
    engine = engine_of(tmp_path, postgres.url())
    engine.open_catalog(None).close()
    assert [one.words for one in engine.server.findings() if one.topic == "schema"] == [
        f"newer than this program ({family} 9999 later), which may go on but makes no copies"
    ]


@pytest.mark.parametrize("oldest", ["NULL", "9999", str(_KNOWN[VAULT] + 1)])
def test_an_older_program_is_refused_by_a_step_that_needs_a_newer_one(
    postgres: PostgresDatabase, oldest: str, tmp_path: Path
) -> None:
    _add_later(postgres, "recollectum", oldest)
    # One after it does not take the demand back.
    _add_later(postgres, "recollectum", 1, number=10_000)
    needed = 9999 if oldest == "NULL" else int(oldest)
    words = (
        rf"step 9999 \(later\) needs a program that knows step {needed}, and this one knows {_KNOWN[VAULT]}; upgrade"
    )
    with pytest.raises(SchemaNewer, match=words):
        engine_of(tmp_path, postgres.url()).open_catalog(None)


def test_a_running_program_notices_and_goes_on_when_the_step_is_gone(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    engine = engine_of(tmp_path, postgres.url())
    engine.pool.watch = SchemaWatch(newer, every=0)
    with vault_of(engine) as vault:
        _add_later(postgres, "recollectum", _KNOWN[VAULT])
        vault.read(lambda tx: tx.state)
        administer(postgres, "UPDATE recollectum.migrations SET oldest = NULL")
        for work in (vault.read, vault.write):
            with pytest.raises(SchemaNewer, match="step 9999"):
                work(lambda tx: tx.state)
        administer(postgres, "DELETE FROM recollectum.migrations WHERE number = 9999")
        vault.read(lambda tx: tx.state)


def test_a_statement_that_no_longer_fits_says_so(postgres: PostgresDatabase, tmp_path: Path) -> None:
    settings = {"storage.url": postgres.url(), "encryption": "off"}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ann")
        administer(postgres, "ALTER TABLE recollectum.memories RENAME COLUMN importance TO weight")
        with pytest.raises(SchemaNewer, match="does not fit this program"):
            vault.memories.save("never kept")


def test_an_older_program_makes_no_copies_that_would_lack_something(postgres: PostgresDatabase, tmp_path: Path) -> None:
    settings = {"storage.url": postgres.url(), "encryption": "off"}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        home.vault("user:ann").memories.save("kept")
        _add_later(postgres, "recollectum", _KNOWN[VAULT])
        with pytest.raises(SchemaNewer, match="cannot copy what it does not know"):
            back_up(home.admin)
