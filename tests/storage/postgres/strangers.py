"""What somebody with the application's password tries by hand: every probe returns what it got and should not have."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, cast

import psycopg

from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase
from tests.storage.postgres.engines import ANN, BOB, vault_of

Connection = psycopg.Connection[tuple[Any, ...]]
Probe = Callable[["Stranger", int, int], Iterator[str]]
SECRET = "only bob knows this"
_TABLES = """
    SELECT DISTINCT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'vault'
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' ORDER BY c.relname
"""


def fill(engine: PostgresEngine) -> tuple[int, int]:
    """Make the vaults of ann and bob, with a row each; return their numbers."""
    numbers: list[int] = []
    for owner, value in ((ANN, "ann's own"), (BOB, SECRET)):
        with vault_of(engine, owner) as database:
            database.write(lambda tx, value=value: meta.save(tx, "note", value))
            database.write(lambda tx, owner=owner: tx.run(_SESSION, {"id": f"of {owner.name}", "key": "a key"}))
            (number, _) = cast("tuple[int, int]", database.read(lambda tx: tx.state))
            numbers.append(number)
    return numbers[0], numbers[1]


class Stranger:
    """Somebody with the application's password and a connection."""

    def __init__(self, connection: Connection, tables: Sequence[str]) -> None:
        self._connection = connection
        self.tables = tables

    def tried(self, vault: int | None, *statements: str) -> "list[tuple[Any, ...]] | None":
        """The rows of the last of some statements in one transaction; None if one is refused."""
        try:
            return _run(self._connection, vault, statements)
        except psycopg.Error:
            return None
        finally:
            self._connection.rollback()

    def answer(self, vault: int | None, statement: str) -> str:
        """Everything that the server says to a statement: its rows, or its error with all details."""
        try:
            return repr(_run(self._connection, vault, [statement]))
        except psycopg.Error as error:
            said = error.diag
            return f"{error} {said.message_detail} {said.message_hint} {said.context} {said.column_name}"
        finally:
            self._connection.rollback()


@contextmanager
def stranger(database: PostgresDatabase, login: str = APPLICATION_LOGIN) -> Generator[Stranger]:
    """A stranger to a database."""
    with psycopg.connect(database.administrator_url) as connection:
        tables = [str(row[0]) for row in connection.execute(_TABLES)]
    with psycopg.connect(database.url(login)) as connection:
        yield Stranger(connection, tables)


def _run(connection: Connection, vault: int | None, statements: Sequence[str]) -> "list[tuple[Any, ...]]":
    connection.execute("SET LOCAL search_path = recollectum, pg_temp")
    if vault is not None:
        connection.execute("SELECT set_config('recollectum.vault', %s, true)", (str(vault),))
    rows: list[tuple[Any, ...]] = []
    for statement in statements:
        sent = cast("LiteralString", statement)
        if statement.startswith("COPY"):
            with connection.cursor() as cursor, cursor.copy(sent) as copy:
                rows = [*copy.rows()]
            continue
        cursor = connection.execute(sent)
        rows = cursor.fetchall() if cursor.description else [()] * max(cursor.rowcount, 0)
    return rows


def without_a_vault(she: Stranger, _: int, __: int) -> Iterator[str]:
    """No table answers when no vault is set; not even with nothing."""
    for table in she.tables:
        for statement in (f"SELECT 1 FROM {table}", f"DELETE FROM {table}", f"COPY {table} TO STDOUT"):
            # An empty table may be answered: no row asked for the setting.
            if (rows := she.tried(None, statement)) is not None and (rows or table == "meta"):
                yield f"{statement} was answered without a vault"
    if she.tried(None, "INSERT INTO meta (vault, name, value) VALUES (1, 'a', 'b')") is not None:
        yield "a row was written without a vault"


def of_another_vault(she: Stranger, ann: int, bob: int) -> Iterator[str]:
    """Nothing of bob's is seen or changed in ann's vault."""
    for table in she.tables:
        for statement in (
            f"SELECT * FROM {table} WHERE vault = {bob}",
            f"DELETE FROM {table} WHERE vault = {bob}",
            f"UPDATE {table} SET vault = {bob} WHERE vault = {bob}",
            f"COPY (SELECT * FROM {table} WHERE vault = {bob}) TO STDOUT",
        ):
            if she.tried(ann, statement):
                yield f"{statement} reached another vault"
    if she.tried(ann, f"INSERT INTO meta (vault, name, value) VALUES ({bob}, 'from ann', 'x')") is not None:
        yield "a row was put into another vault"
    if she.tried(ann, f"UPDATE meta SET vault = {bob}") is not None:
        yield "a row was moved into another vault"
    if SECRET in repr(she.tried(ann, "COPY meta TO STDOUT")):
        yield "COPY showed another vault"


def by_stronger_means(she: Stranger, ann: int, bob: int) -> Iterator[str]:
    """What row-level security does not cover is not granted."""
    for statement in (
        "TRUNCATE meta",
        "ALTER TABLE meta DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_vault ON meta",
        "CREATE TABLE recollectum.stolen AS SELECT * FROM meta",
        "CREATE TEMP TABLE stolen AS SELECT * FROM meta",
        "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE sql COST 0.0001 AS 'SELECT true'",
        "CREATE VIEW recollectum.stolen AS SELECT * FROM meta",
        "SET ROLE recollectum_owner",
        "SET SESSION AUTHORIZATION recollectum_owner",
        "COPY meta FROM '/etc/hostname'",
        "COPY meta TO PROGRAM 'cat'",
        "SELECT pg_read_file('postgresql.conf')",
        "INSERT INTO migrations (number, name, digest, applied_at) VALUES (99, 'a', 'b', 1)",
        "DELETE FROM recollectum_catalog.migrations",
    ):
        if she.tried(ann, statement) is not None:
            yield f"{statement} was allowed"
    # With security off the server refuses what would have been filtered, instead of showing it.
    if she.tried(ann, "SET LOCAL row_security = off", "SELECT value FROM meta") is not None:
        yield "row_security = off was obeyed"
    for table in ("pg_stats", "pg_stats_ext", "pg_statistic"):
        if SECRET in repr(she.tried(ann, f"SELECT * FROM {table}")):
            yield f"{table} shows another vault"
    if she.tried(ann, f"SELECT set_config('recollectum.vault', '{bob}', false)", "COMMIT", "SELECT 1") is None:
        yield "the probe itself failed"


def by_what_the_server_says(she: Stranger, ann: int, bob: int) -> Iterator[str]:
    """No error, plan or view of the server shows a value of bob's, and no reference tells whether he has a row."""
    shown = "encode(value, 'escape')"
    for statement in (
        f"SELECT string_agg({shown}, ' ')::int FROM meta",
        f"SELECT 1 FROM meta WHERE {shown} LIKE '%bob%' AND 1 / (vault - {bob}) IS NULL",
        "SELECT name, 1 / 0 FROM meta ORDER BY value DESC",
        f"INSERT INTO meta (vault, name, value) SELECT {bob}, name, value FROM meta",
        f"UPDATE meta SET vault = {bob}, name = 'note'",
        "EXPLAIN (ANALYZE, VERBOSE) SELECT value FROM meta",
        f"EXPLAIN (ANALYZE, VERBOSE) SELECT value FROM meta WHERE {shown} > 'only'",
        "SELECT query FROM pg_stat_activity",
        "SELECT * FROM pg_prepared_statements",
        "SELECT * FROM pg_policies",
        "SELECT pg_get_viewdef(oid), relname FROM pg_class WHERE relkind IN ('v', 'm')",
    ):
        if SECRET in she.answer(ann, statement):
            yield f"{statement} showed another vault"
    his, none = (she.answer(ann, _REFERENCE.format(session)) for session in ("of bob", "of nobody"))
    if his != none.replace("of nobody", "of bob") or "foreign key" not in none:
        yield "a reference tells whether another vault has a row"


def what_bypasses_policies(she: Stranger, _: int, __: int) -> Iterator[str]:
    """No function runs with its owner's rights, and there is no view, whose owner would read for everybody."""
    for statement in (
        "SELECT proname FROM pg_proc WHERE prosecdef AND pronamespace::regnamespace::text LIKE 'recollectum%'",
        "SELECT relname FROM pg_class WHERE relkind IN ('v', 'm', 'S', 'f') "
        "AND relnamespace::regnamespace::text LIKE 'recollectum%'",
        "SELECT proname FROM pg_proc WHERE proleakproof AND pronamespace::regnamespace::text LIKE 'recollectum%'",
    ):
        if rows := she.tried(None, statement):
            yield f"{rows[0][0]} may show rows of others"


#: A session of bob's, and a message in it that somebody else writes.
_SESSION = """
    INSERT INTO sessions (id, key, created_at, updated_at, imported, message_count, token_estimate)
    VALUES (:id, :key, 0, 0, 0, 0, 0)
"""
_REFERENCE = (
    "INSERT INTO messages (id, session_id, position, role, created_at, text, token_estimate, trust) "
    "VALUES ('new', '{}', 1, 'user', 0, '', 0, 'owner')"
)


def the_own_rows(she: Stranger, ann: int, _: int) -> Iterator[str]:
    """A vault sees its own rows, and a new row belongs to it."""
    if she.tried(ann, "SELECT count(*) > 0 FROM meta") != [(True,)]:
        yield "the rows of the vault are not seen"
    if she.tried(ann, "INSERT INTO meta (name, value) VALUES ('new', 'x')") is None:
        yield "a row does not fill its vault"


def the_schema(she: Stranger, _: int, __: int) -> Iterator[str]:
    """Every table is bound, also for its owner, and the policy asks the setting itself."""
    for name, enabled, forced, policies, check, using in she.tried(None, _SCHEMA) or ():
        wanted = "(vault = (current_setting('recollectum.vault'::text))::bigint)"
        if not (enabled and forced and policies == 1 and check == using == wanted):
            yield f"{name} is not bound"


_SCHEMA = """
    SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, count(p.oid),
           max(pg_get_expr(p.polwithcheck, c.oid)), max(pg_get_expr(p.polqual, c.oid))
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_policy AS p ON p.polrelid = c.oid
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relname <> 'migrations'
     GROUP BY c.relname, c.relrowsecurity, c.relforcerowsecurity
"""

PROBES: dict[str, Probe] = {
    "without a vault": without_a_vault,
    "of another vault": of_another_vault,
    "by stronger means": by_stronger_means,
    "by what the server says": by_what_the_server_says,
    "what bypasses policies": what_bypasses_policies,
    "the own rows": the_own_rows,
    "the schema": the_schema,
}


def leaks(database: PostgresDatabase, ann: int, bob: int, login: str = APPLICATION_LOGIN) -> list[str]:
    """Everything that any probe got."""
    with stranger(database, login) as she:
        return [f"{name}: {found}" for name, probe in PROBES.items() for found in probe(she, ann, bob)]
