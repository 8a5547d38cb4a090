"""The engine on PostgreSQL: vaults are made, listed, marked and destroyed, and a role that sees too much is refused."""

from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.port import Database
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import APPLICATION_LOGIN, MIGRATOR, PostgresDatabase
from tests.storage.postgres.engines import ANN, BOB, administer, engine_of, vault_of


@pytest.fixture
def engine(postgres: PostgresDatabase, tmp_path: Path) -> PostgresEngine:
    return engine_of(tmp_path, postgres.url())


def _write(database: Database) -> None:
    database.write(lambda tx: meta.save(tx, "a", "b"))


def test_a_home_is_made_with_its_catalog(engine: PostgresEngine) -> None:
    assert not engine.is_made()
    engine.create_catalog(None).close()
    assert engine.is_made()
    engine.open_catalog(None).close()


def test_vaults_are_listed_with_their_place(engine: PostgresEngine) -> None:
    with vault_of(engine) as vault, vault_of(engine, BOB):
        before = engine.place_of("vlt_ann")
        vault.write(lambda tx: meta.save(tx, "a", "b" * 5000))
        after = engine.place_of("vlt_ann")
        assert engine.vault_ids() == ["vlt_ann", "vlt_bob"]
        assert engine.place_of("vlt_nobody") is None
    assert before
    assert after
    assert "vlt_ann" in after.words
    assert after.bytes > before.bytes
    assert after.changed_at > before.changed_at


def test_a_mark_moves_with_each_write_and_with_nothing_else(engine: PostgresEngine) -> None:
    with vault_of(engine) as vault, vault_of(engine, BOB) as other:
        marks = [engine.write_marks(["vlt_ann", "vlt_bob", "vlt_nobody"], timedelta(0))]
        vault.read(lambda tx: tx.state)
        marks.append(engine.write_marks(["vlt_ann", "vlt_bob", "vlt_nobody"], timedelta(0)))
        _write(other)
        marks.append(engine.write_marks(["vlt_ann", "vlt_bob", "vlt_nobody"], timedelta(0)))
    assert marks[0] == marks[1]
    assert marks[1]["vlt_ann"] == marks[2]["vlt_ann"]
    assert marks[1]["vlt_bob"] != marks[2]["vlt_bob"]


def test_nothing_is_left_of_a_destroyed_vault_and_all_of_the_others(
    postgres: PostgresDatabase, engine: PostgresEngine
) -> None:
    with vault_of(engine) as vault, vault_of(engine, BOB) as other:
        _write(vault)
        _write(other)
        engine.destroy_vault("vlt_ann")
        engine.destroy_vault("vlt_ann")
        assert engine.vault_ids() == ["vlt_bob"]
        assert other.read(lambda tx: meta.find(tx, "a")) == "b"
    assert administer(postgres, "SELECT count(DISTINCT vault) FROM recollectum.meta") == [(1,)]


def test_a_vault_of_another_owner_is_refused(engine: PostgresEngine) -> None:
    with vault_of(engine), pytest.raises(StorageError, match="not the vault that the catalog names"):
        engine.open_vault("vlt_ann", BOB, None)
    with pytest.raises(StorageError, match="is missing"):
        engine.open_vault("vlt_nobody", ANN, None)


@pytest.mark.parametrize("login", [MIGRATOR, "administrator"])
def test_a_role_that_row_level_security_does_not_bind_is_refused(
    postgres: PostgresDatabase, tmp_path: Path, login: str
) -> None:
    url = postgres.administrator_url if login == "administrator" else postgres.url(login)
    with pytest.raises(StorageError, match="may read every vault"):
        engine_of(tmp_path, url).open_catalog(None)


def test_a_role_that_may_bypass_row_level_security_is_refused(postgres: PostgresDatabase, tmp_path: Path) -> None:
    administer(postgres, f"CREATE ROLE {postgres.name} LOGIN BYPASSRLS IN ROLE recollectum_application")
    try:
        with pytest.raises(StorageError, match=f"is or may become {postgres.name}"):
            engine_of(tmp_path, postgres.url(postgres.name)).open_catalog(None)
    finally:
        administer(postgres, f"DROP ROLE {postgres.name}")


def test_a_database_without_the_schema_is_refused(postgres: PostgresDatabase, tmp_path: Path) -> None:
    administer(postgres, "DROP SCHEMA recollectum CASCADE")
    with pytest.raises(StorageError, match="recollectum upgrade"):
        engine_of(tmp_path, postgres.url()).create_catalog(None)


def test_a_home_of_one_engine_is_not_opened_with_the_other(postgres: PostgresDatabase, tmp_path: Path) -> None:
    plain = {"encryption": "off"}
    with Recollectum(tmp_path / "files", settings=plain):
        pass
    with pytest.raises(StorageError, match="are SQLite files"):
        Recollectum(tmp_path / "files", settings={**plain, "storage.url": postgres.url()})
    with Recollectum(tmp_path / "server", settings={**plain, "storage.url": postgres.url()}):
        pass
    with pytest.raises(StorageError, match=r"storage\.url is not set"):
        Recollectum(tmp_path / "server", settings=plain)


def test_what_does_not_exist_yet_is_refused_in_a_sentence(
    postgres: PostgresDatabase, engine: PostgresEngine, tmp_path: Path
) -> None:
    engine.create_vault("vlt_ann", ANN, None, {})
    with pytest.raises(StorageError, match="does not work on PostgreSQL yet"):
        engine.upkeep.set_aside("vlt_ann", system_clock())


@pytest.mark.parametrize("secret", ["s3cret", "p%40ss%2Fw0rd"])
def test_no_error_shows_the_password(tmp_path: Path, secret: str) -> None:
    url = f"postgresql://{APPLICATION_LOGIN}:{secret}@127.0.0.1:1/nowhere?connect_timeout=1"
    with pytest.raises(RecollectumError) as refused:
        engine_of(tmp_path, url).open_catalog(None)
    assert "cannot be reached" in str(refused.value)
    assert not any(part in str(refused.value) for part in (secret, "p@ss/w0rd"))
    assert refused.value.__suppress_context__
    assert not isinstance(refused.value.__cause__, psycopg.Error)
