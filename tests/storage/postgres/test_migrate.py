"""The schema on PostgreSQL: steps run once, one migrator at a time, and only by the migrator."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest

from recollectum.domain.errors import Busy, SchemaEdited, SchemaNewer, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.postgres.migrate import SchemaStep, pending, shipped, upgrade
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase

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
