"""One vault's rows are nobody else's: the policies, the rights and the numbers of the schema."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
import pytest

from tests.plugins.postgres import PostgresDatabase

_TABLES = """
    SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner), p.polqual::text <> '',
           pg_get_expr(p.polqual, c.oid), pg_get_expr(p.polwithcheck, c.oid)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_policy AS p ON p.polrelid = c.oid
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relname <> 'migrations'
"""
_LEADING = """
    SELECT i.relname, a.attname
      FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
      JOIN pg_namespace AS n ON n.oid = t.relnamespace
      LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
     WHERE n.nspname = 'recollectum' AND t.relname <> 'migrations'
"""
_POLICY = "(vault = (current_setting('recollectum.vault'::text))::bigint)"
_EVENT = "INSERT INTO events (at, type, subject, subject_id, actor) VALUES (1, 'created', 'memory', %s, 'ada')"


@contextmanager
def vault(database: PostgresDatabase, number: int) -> Generator[psycopg.Connection[tuple[object, ...]]]:
    """A transaction of the application in one vault."""
    with psycopg.connect(database.url()) as connection:
        connection.execute("SELECT set_config('search_path', 'recollectum, pg_temp', true)")
        connection.execute("SELECT set_config('recollectum.vault', %s, true)", (str(number),))
        yield connection


def test_every_table_forces_the_policy_of_its_vault(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        rows = connection.execute(_TABLES).fetchall()
    assert len(rows) > 35
    assert not [row for row in rows if row[1:3] != (True, True) or row[3] != "recollectum_owner"]
    assert not [row for row in rows if row[5:] != (_POLICY, _POLICY)]


def test_the_vault_leads_every_index(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        assert not [row for row in connection.execute(_LEADING) if row[1] != "vault"]


def test_a_vault_sees_and_changes_only_its_rows(postgres: PostgresDatabase) -> None:
    for number in (1, 2):
        with vault(postgres, number) as connection:
            connection.execute(_EVENT, (f"of {number}",))
    with vault(postgres, 2) as connection:
        assert connection.execute("SELECT subject_id FROM events").fetchall() == [("of 2",)]
        assert connection.execute("UPDATE events SET actor = 'eve' WHERE vault = 1").rowcount == 0
        assert connection.execute("DELETE FROM events WHERE vault = 1").rowcount == 0
    with vault(postgres, 2) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("INSERT INTO meta (vault, name, value) VALUES (1, 'a', 'b')")


def test_without_a_vault_every_statement_fails(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.url()) as connection, pytest.raises(psycopg.errors.UndefinedObject):
        connection.execute("SELECT * FROM recollectum.events")
    with vault(postgres, 1) as connection:
        connection.commit()
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT * FROM recollectum.events")


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE events",
        "DROP TABLE events",
        "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE recollectum.mine (id bigint)",
        "CREATE TEMP TABLE mine (id bigint)",
        "CREATE VIEW recollectum.mine AS SELECT 1",
        "SET ROLE recollectum_owner",
        "SET LOCAL row_security = off; SELECT * FROM events",
        "COPY events FROM '/dev/null'",
        "UPDATE recollectum.migrations SET digest = ''",
    ],
)
def test_the_application_has_rows_and_no_other_right(postgres: PostgresDatabase, statement: str) -> None:
    with vault(postgres, 1) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_numbers_are_dense_in_each_vault_and_never_used_again(postgres: PostgresDatabase) -> None:
    with vault(postgres, 1) as connection:
        for _ in range(3):
            connection.execute(_EVENT, ("a",))
        with connection.transaction():
            connection.execute(_EVENT, ("rolled back",))
            raise psycopg.Rollback
        connection.execute("INSERT INTO note_folders (path, added_at) VALUES ('a', 0) ON CONFLICT DO NOTHING")
        connection.execute("INSERT INTO note_folders (path, added_at) VALUES ('a', 0) ON CONFLICT DO NOTHING")
        connection.execute("INSERT INTO note_folders (path, added_at) VALUES ('b', 0), ('c', 0)")
        assert connection.execute("SELECT number FROM note_folders ORDER BY number").fetchall() == [(1,), (2,), (3,)]
    with vault(postgres, 1) as connection:
        connection.execute("DELETE FROM events WHERE number = 3")
        connection.execute(_EVENT, ("b",))
        assert connection.execute("SELECT number FROM events ORDER BY number").fetchall() == [(1,), (2,), (4,)]
        assert connection.execute("SELECT last_number('events'), last_number('chunks')").fetchall() == [(4, 0)]
    with vault(postgres, 2) as connection:
        connection.execute(_EVENT, ("a",))
        assert connection.execute("SELECT number FROM events").fetchall() == [(1,)]


def test_what_was_erased_is_refused_in_the_words_of_sqlite(postgres: PostgresDatabase) -> None:
    with vault(postgres, 1) as connection:
        connection.execute("INSERT INTO erased (id) VALUES ('s')")
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="this session was erased for good, and"):
            connection.execute(
                "INSERT INTO sessions (id, key, created_at, updated_at, imported, message_count, token_estimate) "
                "VALUES ('s', 'k', 0, 0, 0, 0, 0)"
            )
