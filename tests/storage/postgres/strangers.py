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
    "the own rows": the_own_rows,
    "the schema": the_schema,
}


def leaks(database: PostgresDatabase, ann: int, bob: int, login: str = APPLICATION_LOGIN) -> list[str]:
    """Everything that any probe got."""
    with stranger(database, login) as she:
        return [f"{name}: {found}" for name, probe in PROBES.items() for found in probe(she, ann, bob)]
