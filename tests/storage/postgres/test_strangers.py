"""With the application's password nobody gets more than the rows of the vault that is set."""

from pathlib import Path
from typing import LiteralString, cast

import psycopg
import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.storage.postgres import scopes
from recollectum.storage.postgres.scopes import vault_scope
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import administer, engine_of, vault_of
from tests.storage.postgres.strangers import PROBES, fill, leaks, stranger

_EVERYTHING = """
    SELECT nspname, quote_ident(relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE nspname LIKE 'recollectum%' AND relkind = 'r'
"""


@pytest.mark.parametrize("probe", PROBES)
def test_a_stranger_gets_nothing(postgres: PostgresDatabase, tmp_path: Path, probe: str) -> None:
    ann, bob = fill(engine_of(tmp_path, postgres.url()))
    administer(postgres, "ANALYZE")
    with stranger(postgres) as she:
        assert not list(PROBES[probe](she, ann, bob))


def test_a_foreign_role_gets_nothing_at_all(postgres: PostgresDatabase, tmp_path: Path) -> None:
    fill(engine_of(tmp_path, postgres.url()))
    login = postgres.name
    administer(postgres, f"CREATE ROLE {login} LOGIN")
    try:
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(postgres.url(login))
        # Also where somebody let it connect.
        administer(postgres, f"GRANT CONNECT ON DATABASE {postgres.name} TO {login}")
        listed = administer(postgres, _EVERYTHING)
        assert {schema for schema, _ in listed} == {"recollectum", "recollectum_catalog"}
        with psycopg.connect(postgres.url(login), autocommit=True) as connection:
            connection.execute("SELECT set_config('recollectum.vault', '1', false)")
            for schema, table in listed:
                for statement in (
                    f"SELECT 1 FROM {schema}.{table}",
                    f"COPY {schema}.{table} TO STDOUT",
                    f"DELETE FROM {schema}.{table}",
                    f"TRUNCATE {schema}.{table}",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(cast("LiteralString", statement))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT recollectum_catalog.written('{}')")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SET ROLE recollectum_application")
    finally:
        administer(postgres, f"DROP OWNED BY {login}")
        administer(postgres, f"DROP ROLE {login}")


#: Changes of the schema that would let somebody see or change too much, or break it.
MUTANTS = {
    "the policy is gone": "DROP POLICY own_vault ON recollectum.meta",
    "row-level security is off": "ALTER TABLE recollectum.meta DISABLE ROW LEVEL SECURITY",
    "it is not forced": "ALTER TABLE recollectum.meta NO FORCE ROW LEVEL SECURITY",
    "new rows are not checked": "ALTER POLICY own_vault ON recollectum.meta WITH CHECK (true)",
    "old rows are not checked": "ALTER POLICY own_vault ON recollectum.meta USING (true)",
    "an unset vault is no error": (
        "ALTER POLICY own_vault ON recollectum.meta "
        "USING (vault = nullif(current_setting('recollectum.vault', true), '')::bigint)"
    ),
    "a function runs with its owner's rights": "ALTER FUNCTION recollectum.texts(text) SECURITY DEFINER",
    "a view reads for everybody": "CREATE VIEW recollectum.everything AS SELECT * FROM recollectum.meta",
    "a function of the schema is trusted with rows of others": "ALTER FUNCTION recollectum.texts(text) LEAKPROOF",
    "a second policy admits everything": "CREATE POLICY other ON recollectum.meta USING (true)",
    "the default is gone": "ALTER TABLE recollectum.meta ALTER COLUMN vault DROP DEFAULT",
    "TRUNCATE is granted": "GRANT TRUNCATE ON recollectum.meta TO recollectum_application",
    "the schema may be changed": "GRANT CREATE ON SCHEMA recollectum TO recollectum_application",
    "temporary tables are granted": "DO $$ BEGIN EXECUTE format('GRANT TEMP ON DATABASE %I TO PUBLIC', "
    "current_database()); END $$",
    "the migrations may be written": "GRANT INSERT ON recollectum.migrations TO recollectum_application",
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_weaker_schema_is_noticed(postgres: PostgresDatabase, tmp_path: Path, mutant: str) -> None:
    ann, bob = fill(engine_of(tmp_path, postgres.url()))
    administer(postgres, MUTANTS[mutant])
    assert leaks(postgres, ann, bob)


def test_an_application_that_may_become_the_owner_is_noticed(postgres: PostgresDatabase, tmp_path: Path) -> None:
    ann, bob = fill(engine_of(tmp_path, postgres.url()))
    # Roles belong to the server: the login of the other tests, which run at the same time, keeps its rights.
    login = postgres.name
    administer(postgres, f"CREATE ROLE {login} LOGIN IN ROLE recollectum_application")
    try:
        assert not leaks(postgres, ann, bob, login)
        administer(postgres, f"GRANT recollectum_owner TO {login}")
        assert leaks(postgres, ann, bob, login)
    finally:
        administer(postgres, f"DROP ROLE {login}")


def test_a_policy_through_an_immutable_function_is_noticed(postgres: PostgresDatabase, tmp_path: Path) -> None:
    ann, bob = fill(engine_of(tmp_path, postgres.url()))
    administer(
        postgres,
        "CREATE FUNCTION recollectum.own() RETURNS bigint LANGUAGE sql IMMUTABLE "
        "AS $$ SELECT current_setting('recollectum.vault')::bigint $$",
    )
    administer(postgres, "GRANT EXECUTE ON FUNCTION recollectum.own() TO PUBLIC")
    administer(postgres, "ALTER POLICY own_vault ON recollectum.meta USING (vault = recollectum.own())")
    assert leaks(postgres, ann, bob)


def _left_on(postgres: PostgresDatabase, folder: Path) -> list[object]:
    """What a transaction leaves set on its connection for the next client."""
    engine = engine_of(folder, postgres.url(), connections=1)
    with vault_of(engine) as vault:
        vault.read(lambda tx: tx.state)
        with engine.pool.taken() as connection:
            return [connection.execute("SELECT current_setting('recollectum.vault', true)").fetchall()[0][0]]


def test_a_vault_is_set_for_one_transaction(postgres: PostgresDatabase, tmp_path: Path) -> None:
    assert _left_on(postgres, tmp_path) == [""]


def test_a_vault_that_is_set_for_the_connection_is_noticed(
    postgres: PostgresDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollectum.storage.postgres import engine

    def session_wide(vault: int, place: str, *, lock_ms: int, statement_ms: int) -> scopes.DatabaseScope:
        from dataclasses import replace

        scope = vault_scope(vault, place, lock_ms=lock_ms, statement_ms=statement_ms)
        return replace(scope, read=scope.read.replace(b"SET LOCAL recollectum", b"SET recollectum"))

    monkeypatch.setattr(engine, "vault_scope", session_wide)
    assert _left_on(postgres, tmp_path) != [""]


def test_a_connection_that_comes_back_in_a_transaction_is_cleaned(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), connections=1)
    ann, _ = fill(engine)
    with vault_of(engine, Owner.parse("user:cleo")) as vault:
        with engine.pool.taken() as connection:
            connection.execute("BEGIN")
            connection.execute(f"SET LOCAL recollectum.vault = '{ann:d}'".encode())
        with engine.pool.taken() as connection:
            assert connection.info.transaction_status == 0
            with pytest.raises(Exception, match=r"bigint|recollectum"):
                connection.execute("SELECT value FROM recollectum.meta")
        with pytest.raises(StorageError):
            vault.read(lambda tx: tx.rows("SELECT 1 FROM nothing", {}))
        assert vault.read(lambda tx: tx.rows("SELECT count(*) FROM meta WHERE name = 'note'", {})) == [(0,)]
