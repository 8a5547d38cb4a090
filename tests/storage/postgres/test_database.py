"""Transactions on PostgreSQL: one snapshot, one writer for each vault, all or nothing."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollectum.domain.errors import Busy, InvalidInput, StorageError
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import BOB, administer, engine_of, vault_of


@pytest.fixture
def engine(postgres: PostgresDatabase, tmp_path: Path) -> PostgresEngine:
    return engine_of(tmp_path, postgres.url(), busy_timeout_seconds=0.5)


@pytest.fixture
def vault(engine: PostgresEngine) -> Iterator[Database]:
    with vault_of(engine) as database:
        yield database


def _save(name: str, value: str) -> Callable[[Tx], None]:
    return lambda tx: meta.save(tx, name, value)


def _find(database: Database, name: str) -> str | None:
    return database.read(lambda tx: meta.find(tx, name))


def test_what_was_written_is_read(vault: Database) -> None:
    vault.write(_save("a", "b"))
    assert _find(vault, "a") == "b"


def test_a_write_that_fails_leaves_nothing(vault: Database) -> None:
    def work(tx: Tx) -> None:
        meta.save(tx, "a", "b")
        raise LookupError

    with pytest.raises(LookupError):
        vault.write(work)
    assert _find(vault, "a") is None
    vault.write(_save("a", "c"))
    assert _find(vault, "a") == "c"


def test_a_failed_statement_that_is_passed_over_is_no_success(vault: Database) -> None:
    def work(tx: Tx) -> None:
        meta.save(tx, "a", "b")
        try:
            tx.run("INSERT INTO meta (name, value) VALUES (:name, :value)", {"name": "a", "value": "c"})
        except Exception:  # noqa: BLE001 - the mistake that is tested
            return

    with pytest.raises(StorageError, match="nothing was written"):
        vault.write(work)
    assert _find(vault, "a") is None


def test_a_read_is_one_snapshot(vault: Database) -> None:
    def work(tx: Tx) -> tuple[str | None, str | None]:
        before = meta.find(tx, "a")
        vault.write(_save("a", "b"))
        return before, meta.find(tx, "a")

    assert vault.read(work) == (None, None)


def test_a_read_cannot_write(vault: Database) -> None:
    with pytest.raises(StorageError, match="accepts no writes"):
        vault.read(_save("a", "b"))


def test_the_state_moves_with_each_write_of_this_vault_and_no_other(engine: PostgresEngine, vault: Database) -> None:
    seen = [vault.read(lambda tx: tx.state)]
    with vault_of(engine, BOB) as other:
        other.write(_save("a", "b"))
        seen.append(vault.read(lambda tx: tx.state))
        vault.write(_save("a", "b"))
        seen.append(vault.read(lambda tx: tx.state))
        assert seen[0] == seen[1] != seen[2]
        assert other.read(lambda tx: tx.state) not in seen


def test_one_vault_never_shows_the_rows_of_another(engine: PostgresEngine, vault: Database) -> None:
    with vault_of(engine, BOB) as other:
        vault.write(_save("a", "of ann"))
        other.write(_save("a", "of bob"))
        assert (_find(vault, "a"), _find(other, "a")) == ("of ann", "of bob")
        other.write(lambda tx: meta.remove(tx, "a"))
        assert _find(vault, "a") == "of ann"


def test_a_second_writer_of_a_vault_waits_and_others_do_not(engine: PostgresEngine, vault: Database) -> None:
    with vault_of(engine, BOB) as other:

        def work(tx: Tx) -> None:
            other.write(_save("a", "b"))
            with pytest.raises(Busy, match="busy_timeout_seconds"):
                vault.write(_save("a", "late"))
            meta.save(tx, "a", "first")

        vault.write(work)
        assert (_find(vault, "a"), _find(other, "a")) == ("first", "b")


def test_writers_of_one_vault_lose_no_change(vault: Database) -> None:
    vault.write(_save("count", "0"))

    def work() -> None:
        for _ in range(10):
            vault.write(lambda tx: meta.save(tx, "count", str(int(meta.find(tx, "count") or 0) + 1)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _find(vault, "count") == "40"


@pytest.mark.parametrize("name", ["\ud800", 2**64])
def test_a_value_that_cannot_be_sent_is_bad_input(vault: Database, name: str | int) -> None:
    with pytest.raises(InvalidInput):
        vault.read(lambda tx: tx.rows("SELECT value FROM meta WHERE name = CAST(:name AS TEXT)", {"name": name}))
    assert _find(vault, "a") is None


def test_a_closed_database_says_so(engine: PostgresEngine) -> None:
    with vault_of(engine) as database:
        database.close()
        database.close()
        with pytest.raises(StorageError, match="was closed"):
            _find(database, "a")


def test_a_vault_that_was_destroyed_says_so(engine: PostgresEngine, vault: Database) -> None:
    engine.destroy_vault("vlt_ann")
    for work in (lambda: _find(vault, "a"), lambda: vault.write(_save("a", "b"))):
        with pytest.raises(StorageError, match="no longer exists"):
            work()


def _fail(tx: Tx) -> None:
    tx.rows("SELECT 1 FROM nothing", {})


def test_no_vault_stays_set_on_a_connection(
    postgres: PostgresDatabase, engine: PostgresEngine, vault: Database
) -> None:
    vault.write(_save("a", "b"))
    with pytest.raises(StorageError):
        vault.write(_fail)
    with engine.pool.taken() as connection:
        rows = connection.execute(
            "SELECT current_setting('recollectum.vault', true), current_schemas(false)"
        ).fetchall()
    assert rows == [("", ["public"])]


def test_connections_that_the_server_closed_are_replaced(
    postgres: PostgresDatabase, engine: PostgresEngine, vault: Database
) -> None:
    vault.write(_save("a", "b"))
    administer(
        postgres,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{postgres.name}' AND pid <> pg_backend_pid()",
    )
    assert _find(vault, "a") == "b"
    vault.write(_save("a", "c"))
    assert _find(vault, "a") == "c"
