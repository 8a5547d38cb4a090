"""What goes wrong on a server is told in a sentence, without SQL, values or a password."""

import threading
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from recollectum.domain.errors import Busy, Damaged, DiskFull, ReadOnly, RecollectumError, StorageError, Unreachable
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres.failures import translate, unreachable
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase
from tests.storage.postgres.engines import ANN, BOB, administer, engine_of, vault_of

PLACE = "postgresql://db:5432/memory"


@pytest.mark.parametrize(
    ("words", "kind", "told"),
    [
        ('FATAL:  password authentication failed for user "ann"', StorageError, "password"),
        ("FATAL:  sorry, too many clients already", Busy, "no connection left"),
        ("FATAL:  no more connections allowed (max_client_conn)", Busy, "no connection left"),
        ("FATAL:  the database system is starting up", Busy, "starting or stopping"),
        ('FATAL:  database "memory" does not exist', StorageError, "create the database"),
        ('FATAL:  role "ann" does not exist', StorageError, "role"),
        ("connection refused", Unreachable, "cannot be reached"),
        ("session is read-only", Unreachable, "no host of"),
    ],
)
def test_a_connection_that_is_refused(words: str, kind: type[RecollectumError], told: str) -> None:
    found = unreachable(psycopg.OperationalError(f'connection to server at "db" failed: {words}'), PLACE)
    assert type(found) is kind
    assert told in str(found)
    assert PLACE in str(found)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.DiskFull("could not extend file"), DiskFull),
        (errors.DeadlockDetected("a"), Busy),
        (errors.AdminShutdown("a"), Unreachable),
        (errors.DuplicatePreparedStatement('prepared statement "s3cret" already exists'), StorageError),
        (errors.UniqueViolation("Key (id)=(s3cret) already exists"), StorageError),
        (errors.InvalidTextRepresentation('invalid input syntax: "s3cret"'), StorageError),
        (UnicodeDecodeError("utf-8", b"s3cret", 0, 1, "s3cret"), Damaged),
    ],
)
def test_an_error_of_the_server_is_translated_without_its_text(error: Exception, kind: type[RecollectumError]) -> None:
    found = translate(error, PLACE)
    assert type(found) is kind
    assert "s3cret" not in str(found)
    assert PLACE in str(found)


def _sleep(tx: Tx) -> None:
    tx.rows("SELECT pg_sleep(30)", {})


def test_a_statement_that_takes_too_long(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), statement_timeout_seconds=2)
    with vault_of(engine) as vault:
        with pytest.raises(Busy, match="statement_timeout_seconds"):
            vault.read(_sleep)
        assert vault.read(lambda tx: meta.find(tx, "owner"))


def test_two_writers_that_wait_for_each_other(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url())
    met = threading.Barrier(2)
    caught: list[RecollectumError] = []

    def cross(first: Database, second: Database) -> None:
        def work(_: Tx) -> None:
            met.wait(30)
            second.write(lambda tx: meta.save(tx, "a", "b"))

        try:
            first.write(work)
        except RecollectumError as error:
            caught.append(error)

    with vault_of(engine) as one, vault_of(engine, BOB) as two:
        threads = [threading.Thread(target=cross, args=pair) for pair in ((one, two), (two, one))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert caught
    assert all(type(error) is Busy for error in caught)


def test_a_server_that_accepts_no_writes(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with vault_of(engine_of(tmp_path, postgres.url())) as vault:
        vault.write(lambda tx: meta.save(tx, "a", "b"))
    administer(postgres, f"ALTER DATABASE {postgres.name} SET default_transaction_read_only = on")
    engine = engine_of(tmp_path, postgres.url())
    vault = engine.open_vault("vlt_ann", ANN, None)
    try:
        assert vault.read(lambda tx: meta.find(tx, "a")) == "b"
        with pytest.raises(ReadOnly, match="accepts no writes"):
            vault.write(lambda tx: meta.save(tx, "a", "c"))
    finally:
        vault.close()


def test_a_server_without_a_free_connection(postgres: PostgresDatabase, tmp_path: Path) -> None:
    administer(postgres, f"ALTER DATABASE {postgres.name} CONNECTION LIMIT 0")
    with pytest.raises(Busy, match="no connection left"):
        engine_of(tmp_path, postgres.url()).open_catalog(None)


def test_a_role_without_rights(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with vault_of(engine_of(tmp_path, postgres.url())) as vault:
        administer(postgres, "REVOKE SELECT ON recollectum.meta FROM recollectum_application")
        with pytest.raises(StorageError, match="may not do this") as refused:
            vault.read(lambda tx: meta.find(tx, "a"))
    assert APPLICATION_LOGIN not in str(refused.value)
    assert "SELECT" not in str(refused.value)


def test_a_pool_that_is_used_up(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), connections=1, busy_timeout_seconds=0.3)
    with vault_of(engine) as vault, pytest.raises(Busy, match=r"storage\.connections"):
        vault.read(lambda _: vault.read(lambda tx: meta.find(tx, "a")))
