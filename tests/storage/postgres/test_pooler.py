"""Behind PgBouncer in transaction mode, where all clients share one connection to the server."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Busy, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.postgres.operations.schema_upgrade import upgrade_schema
from recollectum.storage.tables.trail import meta
from tests.plugins.pgbouncer import POOLED, own_pooler
from tests.plugins.postgres import APPLICATION_LOGIN, FOLDER, MIGRATOR, PostgresDatabase, available, database_on
from tests.storage.postgres.engines import administer, engine_of, vault_of
from tests.tools.pooler import find_pooler

pytestmark = pytest.mark.process

_SERVERS = [f"{version}{POOLED}" for version in available() if version != "given"] if find_pooler() else []


@pytest.fixture(params=_SERVERS)
def pooled(request: pytest.FixtureRequest) -> Iterator[PostgresDatabase]:
    """A database behind a pooler."""
    with database_on(str(request.param)) as database:
        yield database


def test_a_pooler_that_knows_no_prepared_statements_is_named_with_the_cure(
    pooled: PostgresDatabase, tmp_path: Path
) -> None:
    settings: dict[str, object] = {"storage.url": pooled.url(), "storage.prepared_statements": "on"}
    with Recollectum(tmp_path / "home", settings={**settings, "encryption": "off"}) as home:
        vault = home.vault("user:ann")
        for number in range(3):
            vault.memories.save(f"the car number {number} is red")
        # As if the pooler took another connection for this client, which it may do at any transaction.
        with psycopg.connect(pooled.url(), autocommit=True) as other:
            other.execute("DEALLOCATE ALL", prepare=False)
        with pytest.raises(StorageError) as refused:
            vault.memories.save("the car number 3 is red")
    assert "pooler" in str(refused.value)
    assert 'set storage.prepared_statements = "off"' in str(refused.value)


def test_no_client_runs_the_prepared_statement_of_another(pooled: PostgresDatabase, tmp_path: Path) -> None:
    """Two clients prepare different statements as their first, on one connection of the server."""
    engines = [engine_of(tmp_path / name, pooled.url(), prepared_statements="on") for name in ("one", "two")]
    for engine in engines:
        engine.pool.hold()
    with engines[0].pool.taken() as one, engines[1].pool.taken() as two:
        for _ in range(3):
            assert one.execute("SELECT 'of one'").fetchall() == [("of one",)]
            assert two.execute("SELECT 'of two'").fetchall() == [("of two",)]
    for engine in engines:
        engine.pool.let_go()


def test_people_who_share_the_connection_see_their_own_rows(pooled: PostgresDatabase, tmp_path: Path) -> None:
    """Two processes' worth of clients, whose transactions alternate on one connection of the server."""
    seen: dict[str, list[str]] = {}

    def talk(home: Recollectum, name: str) -> None:
        vault = home.vault(f"user:{name}")
        for number in range(5):
            vault.memories.save(f"{name} has the car number {number}")
        seen[name] = sorted(hit.text for hit in vault.recall("car", limit=20))

    with (
        Recollectum(tmp_path / "one", settings={"storage.url": pooled.url(), "encryption": "off"}) as one,
        Recollectum(tmp_path / "two", settings={"storage.url": pooled.url(), "encryption": "off"}) as two,
    ):
        threads = [threading.Thread(target=talk, args=pair) for pair in ((one, "ann"), (two, "bob"), (one, "cleo"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        backends = administer(
            pooled, f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{pooled.name}' AND pid <> pg_backend_pid()"
        )
    assert backends == [(1,)]
    assert seen == {name: [f"{name} has the car number {n}" for n in range(5)] for name in ("ann", "bob", "cleo")}


def test_a_client_that_waits_too_long_for_the_connection_is_told_once(
    pooled: PostgresDatabase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with own_pooler(Path(os.environ[FOLDER]), pooled.server, (APPLICATION_LOGIN,), wait=1) as pooler:
        engine = engine_of(tmp_path, replace(pooled, pooler=pooler).url())
        with vault_of(engine) as vault:
            caplog.clear()
            with pytest.raises(Busy, match=r"the pooler of .* had no connection left"):
                vault.read(lambda _: vault.read(lambda tx: meta.find(tx, "a")))
            # Not once for every connection that the process may have.
            assert [one.getMessage()[:10] for one in caplog.records if one.name == "psycopg.pool"] == ["discarding"]
            assert vault.read(lambda tx: meta.find(tx, "a")) is None


def test_a_schema_is_upgraded_through_it(pooled: PostgresDatabase) -> None:
    for schema in ("recollectum", "recollectum_catalog"):
        administer(pooled, f"DROP SCHEMA {schema} CASCADE")
    url = pooled.url().replace(APPLICATION_LOGIN, MIGRATOR)
    due = upgrade_schema(url, system_clock, dry_run=True)
    assert len(due) > 3
    assert upgrade_schema(url, system_clock, dry_run=False) == due
    assert upgrade_schema(url, system_clock, dry_run=False) == ()
