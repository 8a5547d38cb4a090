"""The doctor names what weakens a PostgreSQL database, each in one sentence with its cure."""

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.engine import ServerFinding
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.postgres.migrate import SCHEMAS, upgrade
from recollectum.storage.postgres.operations.index_checks import shipped_indexes
from recollectum.storage.postgres.operations.schema_upgrade import upgrade_schema
from recollectum.storage.postgres.operations.server_checks import pooler_advice
from recollectum.upkeep.doctor.examination import examine
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase, available, database_on
from tests.plugins.postgres_pairs import OwnServer, ServerPair
from tests.storage.postgres.cutting_proxy import proxied
from tests.storage.postgres.engines import administer, engine_of

#: What the servers of the tests lack, whatever the test does.
_FOREVER = {"fsync is off", "data_checksums is off"}
_APPLICATION = "recollectum_application"

#: What weakens a database: a statement of an administrator, the topic of the finding, and its words.
WEAKENED = {
    "security off": ("ALTER TABLE recollectum.meta DISABLE ROW LEVEL SECURITY", "not forced on meta"),
    "owner free": ("ALTER TABLE recollectum.meta NO FORCE ROW LEVEL SECURITY", "not forced on meta"),
    "policy dropped": ("DROP POLICY own_vault ON recollectum.meta", "meta has no policy"),
    "policy beside": ("CREATE POLICY all_rows ON recollectum.meta USING (true)", "the policy meta.all_rows"),
    "policy open": ("ALTER POLICY own_vault ON recollectum.meta USING (true)", "the policy meta.own_vault"),
    "check open": ("ALTER POLICY own_vault ON recollectum.meta WITH CHECK (true)", "the policy meta.own_vault"),
    "policy of some": (f"ALTER POLICY own_vault ON recollectum.meta TO {_APPLICATION}", "the policy meta.own_vault"),
    "policy by a function": (
        "CREATE FUNCTION recollectum.own() RETURNS bigint IMMUTABLE LANGUAGE sql AS "
        "$$SELECT current_setting('recollectum.vault')::bigint$$; "
        "ALTER POLICY own_vault ON recollectum.meta USING (vault = recollectum.own())",
        "the policy meta.own_vault",
    ),
    "default gone": ("ALTER TABLE recollectum.meta ALTER COLUMN vault DROP DEFAULT", "the column vault of meta"),
    "another default": ("ALTER TABLE recollectum.meta ALTER COLUMN vault SET DEFAULT 1", "the column vault of meta"),
    "a view": ("CREATE VIEW recollectum.seen AS SELECT * FROM recollectum.meta", "the view recollectum.seen"),
    "owner's function": (
        "CREATE FUNCTION recollectum.leak() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'",
        "the function recollectum.leak",
    ),
    "truncate": (f"GRANT TRUNCATE ON recollectum.meta TO {_APPLICATION}", "the right TRUNCATE on recollectum.meta"),
    "ledger": (
        f"GRANT UPDATE ON recollectum.migrations TO {_APPLICATION}",
        "the right UPDATE on recollectum.migrations",
    ),
    "a right gone": (f"REVOKE DELETE ON recollectum.meta FROM {_APPLICATION}", "may not use recollectum.meta"),
    "public": ("GRANT SELECT ON recollectum.meta TO PUBLIC", "everybody (PUBLIC) has rights"),
    "a stranger": ("GRANT SELECT ON recollectum.meta TO pg_monitor", "pg_monitor has rights"),
    "create": (f"GRANT CREATE ON SCHEMA recollectum TO {_APPLICATION}", "CREATE in the schema recollectum"),
    "temporary": (
        "DO $$BEGIN EXECUTE format('GRANT TEMP ON DATABASE %I TO PUBLIC', current_database()); END$$",
        "TEMP",
    ),
    "collation": (
        'ALTER TABLE recollectum_catalog.leases ALTER COLUMN name TYPE text COLLATE "POSIX"',
        'recollectum_catalog.leases.name does not have the collation "C"',
    ),
    "index gone": ("DROP INDEX recollectum_catalog.grants_grantee", "the index recollectum_catalog.grants_grantee"),
    "index invalid": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'recollectum_catalog.grants_grantee'::regclass",
        "recollectum_catalog.grants_grantee is invalid",
    ),
    "no vacuum": (
        "ALTER TABLE recollectum.meta SET (autovacuum_enabled = off)",
        "autovacuum of the table recollectum.meta",
    ),
    "unsynced": (
        "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END$$",
        "synchronous_commit is off",
    ),
}


@pytest.fixture
def engine(postgres: PostgresDatabase, tmp_path: Path) -> PostgresEngine:
    return engine_of(tmp_path, postgres.url())


def _weak(engine: PostgresEngine) -> list[ServerFinding]:
    found = engine.server.findings()
    assert all(one.cure for one in found if one.severity != "fine")
    return [one for one in found if one.severity != "fine" and one.words.partition(":")[0] not in _FOREVER]


def test_a_database_as_the_steps_made_it_has_no_weakness(engine: PostgresEngine) -> None:
    found = engine.server.findings()
    assert _weak(engine) == []
    assert {one.topic for one in found} == {
        "server", "schema", "pooler", "rights", "row-level security", "order of texts", "indexes", "durability",
        "dead rows", "standbys",
    }  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("weakness", WEAKENED)
def test_each_weakness_is_named_with_its_cure(tmp_path: Path, weakness: str) -> None:
    statement, words = WEAKENED[weakness]
    # One of the servers, always the same: the next weakness meets another.
    with database_on(available()[crc32(weakness.encode()) % len(available())]) as database:
        administer(database, statement)
        found = _weak(engine_of(tmp_path, database.url()))
    assert len(found) == 1
    assert words in found[0].words


def test_an_old_server_is_refused(postgres: PostgresDatabase, tmp_path: Path) -> None:
    def older(message: bytes) -> bytes:
        content = message[5:]
        if not content.startswith(b"server_version\0"):
            return message
        changed = b"server_version\x0014.9\0"
        return b"S" + (len(changed) + 4).to_bytes(4, "big") + changed

    with proxied(postgres) as (proxy, url):
        proxy.rewrite = older
        with pytest.raises(StorageError, match="is PostgreSQL 14; upgrade the server to 15 or later"):
            engine_of(tmp_path, url).open_catalog(None)
        with pytest.raises(StorageError, match="is PostgreSQL 14"):
            upgrade_schema(url, system_clock, dry_run=True)


def test_a_pooler_is_noticed_by_the_backend_it_invents(postgres: PostgresDatabase, tmp_path: Path) -> None:
    def invented(message: bytes) -> bytes:
        return message[:5] + b"\x00\x00\x00\x07" + message[9:] if message.startswith(b"K") else message

    with proxied(postgres) as (proxy, url):
        proxy.rewrite = invented
        (found,) = _weak(engine_of(tmp_path, url))
    assert (found.topic, found.severity) == ("pooler", "warning")
    assert "storage.prepared_statements to off" in str(found.cure)


@pytest.mark.parametrize(
    ("prepares", "kept", "severity"),
    [(False, None, "fine"), (False, 0, "fine"), (True, 200, "fine"), (True, 0, "problem"), (True, None, "warning")],
)
def test_advice_about_a_pooler(prepares: bool, kept: int | None, severity: str) -> None:  # noqa: FBT001
    assert pooler_advice(prepares=prepares, kept=kept).severity == severity


def test_dead_rows_are_counted(postgres: PostgresDatabase, engine: PostgresEngine) -> None:
    administer(postgres, "ALTER TABLE recollectum.meta SET (autovacuum_enabled = off)")
    with psycopg.connect(postgres.administrator_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO recollectum.meta (vault, name, value) SELECT 1, n::text, '' FROM generate_series(1, 12000) n"
        )
        connection.execute("DELETE FROM recollectum.meta")
        connection.execute("SELECT pg_stat_force_next_flush()")
    found = [one.words for one in _weak(engine) if "dead rows beside" in one.words]
    assert found == ["recollectum.meta has 12000 dead rows beside 0 live ones; the last vacuum was never"]


def test_another_encoding_is_named(postgres: PostgresDatabase, tmp_path: Path) -> None:
    name = f"{postgres.name}_latin"
    administer(postgres, f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    latin = PostgresDatabase(postgres.server, name)
    try:
        administer(latin, f"GRANT CREATE ON DATABASE {name} TO recollectum_owner")
        with psycopg.connect(latin.migrator_url, autocommit=True) as connection:
            upgrade(connection, clock=system_clock)
        words = [one.words for one in _weak(engine_of(tmp_path, latin.url()))]
    finally:
        administer(postgres, f"DROP DATABASE {name} WITH (FORCE)")
    assert "the database has the encoding LATIN1, which cannot hold every text" in words


def test_checksums_and_syncs_are_those_of_the_server(own_server: OwnServer, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, own_server.database.url())
    ((checked,),) = own_server.run("SHOW data_checksums")
    words = {one.words.partition(":")[0] for one in engine.server.findings() if one.topic == "durability"}
    assert words == {"fsync is off", *(["data_checksums is off"] if checked == "off" else [])}
    for name, value in (("fsync", "on"), ("full_page_writes", "off")):
        own_server.run(f"ALTER SYSTEM SET {name} = {value}")
    own_server.stop()
    own_server.start()
    words = {one.words.partition(":")[0] for one in engine.server.findings() if one.topic == "durability"}
    assert words - {"data_checksums is off"} == {"full_page_writes is off"}


def _standbys(engine: PostgresEngine) -> Iterator[tuple[str, str]]:
    return ((one.severity, one.words) for one in engine.server.findings() if one.topic == "standbys")


def test_a_standby_that_is_behind_is_named(server_pair: ServerPair, tmp_path: Path) -> None:
    alone = engine_of(tmp_path, server_pair.primary.database.url())
    both = engine_of(tmp_path, server_pair.url())
    replicated = engine_of(tmp_path, server_pair.primary.database.url(), replica_url=server_pair.standby.database.url())
    ((severity, words),) = _standbys(alone)
    assert (severity, words) == ("note", "1 connected; how far they are behind is not shown to this role")
    server_pair.wait_for_replay()
    ((severity, words),) = _standbys(both)
    assert (severity, words.endswith("is 0.0 MiB behind")) == ("fine", True)
    ((severity, words),) = _standbys(replicated)
    assert (severity, words.endswith("is 0.0 MiB behind")) == ("fine", True)
    server_pair.standby.run("SELECT pg_wal_replay_pause()")
    server_pair.primary.run("SELECT pg_logical_emit_message(false, 'test', repeat('x', 18 * 1048576))")
    ((severity, words),) = _standbys(both)
    assert (severity, "has paused its replay" in words) == ("warning", True)
    server_pair.primary.run(f"GRANT pg_read_all_stats TO {APPLICATION_LOGIN}")
    ((severity, words),) = _standbys(alone)
    assert (severity, words.startswith("the last of 1 is 1")) == ("warning", True)
    server_pair.standby.kill()
    for engine, setting in ((both, "storage.url"), (replicated, "storage.replica_url")):
        ((severity, words),) = _standbys(engine)
        assert (severity, f"a host of {setting}, cannot be reached" in words) == ("warning", True)


def test_a_second_primary_is_a_problem(server_pair: ServerPair, tmp_path: Path) -> None:
    server_pair.primary.run("ALTER SYSTEM SET synchronous_standby_names = ''")
    server_pair.primary.run("SELECT pg_reload_conf()")
    server_pair.standby.run("SELECT pg_promote()")
    ((severity, words),) = _standbys(engine_of(tmp_path, server_pair.url()))
    assert (severity, "is a second primary" in words) == ("problem", True)


def test_the_steps_make_the_indexes_that_are_read_from_them(postgres: PostgresDatabase) -> None:
    schemas = ", ".join(f"'{name}'" for name in SCHEMAS.values())
    rows = administer(
        postgres,
        f"SELECT schemaname, indexname FROM pg_indexes WHERE schemaname IN ({schemas}) AND tablename <> 'migrations'",
    )
    assert shipped_indexes() == {(str(schema), str(name)) for schema, name in rows}


def test_the_doctor_tells_what_the_server_shows(postgres: PostgresDatabase, tmp_path: Path) -> None:
    administer(postgres, WEAKENED["policy open"][0])
    settings = {"storage.url": postgres.url(), "encryption": "off"}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        found = examine(home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings)
    (told,) = [one for one in found if one.topic == "row-level security"]
    assert told.severity == "problem"
    assert told.cure


def test_the_doctor_removes_an_empty_vault_that_nobody_lists_only_when_it_is_old(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    settings = {"storage.url": postgres.url(), "encryption": "off", "embedding.provider": "none"}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        home.vault("user:ann")
        # A program that makes a vault has come this far; then it is killed.
        home.admin.engine.create_vault("vlt_killed", Owner.parse("user:ben"), None, {})

        def fixed() -> list[bool]:
            found = examine(home.admin, lambda one: home.vault(str(one)).admin.clock(), home.settings, fix=True)
            return [one.fixed for one in found if one.topic == "orphan files"]

        assert fixed() == [False]
        administer(postgres, "UPDATE recollectum_catalog.vault_state SET last_write_at = last_write_at - 7200000000")
        assert fixed() == [True]
        assert fixed() == []
        assert len(home.admin.engine.vault_ids()) == 1
