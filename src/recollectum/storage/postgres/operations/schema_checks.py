"""Checks the rights, the row-level security and the columns of a database against what the schema steps made.

A change of one of them can open the vaults to each other, or give texts another order than SQLite's.
"""

from collections.abc import Iterator, Sequence

from recollectum.storage.engine import ServerFinding
from recollectum.storage.postgres.connections.connection import Connected
from recollectum.storage.postgres.migrate import SCHEMAS, newer
from recollectum.storage.postgres.roles import APPLICATION

STEPS, RIGHTS, ISOLATION, TEXTS = "schema", "rights", "row-level security", "order of texts"
_VAULTS = "recollectum"
#: What the server prints for the policy, and for the default of the column `vault`.
_SETTING = "(current_setting('recollectum.vault'::text))::bigint"
_POLICY = f"(vault = {_SETTING})"
_NAMED = 3
_OWN_LEDGER = "migrations"

_TABLES = """
    SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'vault' AND NOT a.attisdropped
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE n.nspname = 'recollectum' AND c.relkind IN ('r', 'p') AND c.relname <> 'migrations'
     ORDER BY c.relname
"""
_POLICIES = """
    SELECT c.relname, p.polname, p.polcmd = '*' AND p.polpermissive AND p.polroles = '{0}',
           pg_get_expr(p.polqual, c.oid), pg_get_expr(p.polwithcheck, c.oid)
      FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = 'recollectum' ORDER BY c.relname, p.polname
"""
#: Views, and functions that run with the rights of their owner, see what their owner sees.
_AROUND = """
    SELECT format('the view %%I.%%I', n.nspname, c.relname)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY (%(schemas)s) AND c.relkind IN ('v', 'm')
    UNION ALL
    SELECT format('the function %%I.%%I', n.nspname, p.proname)
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = ANY (%(schemas)s) AND p.prosecdef ORDER BY 1
"""
_RIGHTS = """
    SELECT n.nspname, c.relname,
           array(SELECT one
                   FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) AS one
                  WHERE has_table_privilege(c.oid, one))
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'p') ORDER BY 1, 2
"""
#: Roles besides the owner and the application that were given rights to a table.
_GRANTED = """
    SELECT DISTINCT coalesce(r.rolname, 'everybody (PUBLIC)'), n.nspname
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, aclexplode(c.relacl) AS g
      LEFT JOIN pg_roles AS r ON r.oid = g.grantee
     WHERE n.nspname = ANY (%s) AND g.grantee <> c.relowner AND coalesce(r.rolname, '') <> %s ORDER BY 1, 2
"""
_MORE = """
    SELECT 'CREATE in the schema ' || nspname FROM pg_namespace
     WHERE nspname = ANY (%(schemas)s) AND has_schema_privilege(oid, 'CREATE')
    UNION ALL
    SELECT one || ' in the database' FROM unnest(ARRAY['CREATE', 'TEMPORARY']) AS one
     WHERE has_database_privilege(current_database(), one)
    UNION ALL
    SELECT what FROM pg_roles, LATERAL (VALUES (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'),
                                               (rolreplication, 'REPLICATION')) AS kept (given, what)
     WHERE rolname = session_user AND given
    UNION ALL
    SELECT 'membership in ' || rolname FROM pg_roles
     WHERE rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files',
                       'pg_read_all_data', 'pg_write_all_data')
       AND pg_has_role(session_user, oid, 'MEMBER')
"""
_COLLATIONS = """
    SELECT format('%%I.%%I.%%I', n.nspname, c.relname, a.attname)
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_collation AS k ON k.oid = a.attcollation
     WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
       AND a.atttypid = 'text'::regtype AND k.collname <> 'C'
     ORDER BY 1
"""
_ENCODING = "SELECT getdatabaseencoding()"


def _problem(topic: str, words: str, cure: str) -> ServerFinding:
    return ServerFinding(topic=topic, severity="problem", words=words, cure=cure)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def steps(connection: Connected) -> Iterator[ServerFinding]:
    """Name the steps of a newer program that this one may go on beside; a home with others does not open."""
    found = newer(connection)
    if found:
        words = f"newer than this program ({', '.join(found)}), which may go on but makes no copies"
        yield ServerFinding(topic=STEPS, severity="note", words=words, cure="upgrade this program")
    else:
        yield ServerFinding(topic=STEPS, severity="fine", words="the steps of this program and no others")


def isolation(connection: Connected) -> Iterator[ServerFinding]:
    """Check that every table of the vaults admits the rows of the transaction's vault alone, also to its owner."""
    rows = connection.execute(_TABLES, prepare=False).fetchall()
    found = [*_unbound(rows), *_policies(connection, [str(row[0]) for row in rows]), *_around(connection)]
    yield from found
    if not found:
        words = f"forced on all {len(rows)} tables of the vaults, by the policy of the schema"
        yield ServerFinding(topic=ISOLATION, severity="fine", words=words)


def _unbound(rows: Sequence[tuple[object, ...]]) -> Iterator[ServerFinding]:
    unbound = [str(row[0]) for row in rows if not (row[1] and row[2])]
    if unbound:
        cure = "as the migrator, for each: ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        yield _problem(ISOLATION, f"not forced on {_listed(unbound)}: every vault can see the rows of the others", cure)
    loose = [str(row[0]) for row in rows if not row[3] or row[4] != _SETTING]
    if loose:
        cure = "as the migrator, for each: ALTER TABLE … ALTER COLUMN vault SET NOT NULL, and SET DEFAULT " + _SETTING
        yield _problem(
            ISOLATION, f"the column vault of {_listed(loose)} does not fill itself from the transaction", cure
        )


def _policies(connection: Connected, tables: Sequence[str]) -> Iterator[ServerFinding]:
    rows = connection.execute(_POLICIES, prepare=False).fetchall()
    cure = (
        f"stop the servers; as the migrator drop every policy of the table, then: CREATE POLICY own_vault ON … "
        f"USING {_POLICY} WITH CHECK {_POLICY}"
    )
    weak = [f"{table}.{name}" for table, name, is_for_all, *asked in rows if not is_for_all or set(asked) != {_POLICY}]
    if weak:
        yield _problem(
            ISOLATION, f"the policy {_listed(weak)} does not ask for the vault of the transaction itself", cure
        )
    bare = sorted(set(tables) - {str(row[0]) for row in rows})
    if bare:
        yield _problem(ISOLATION, f"{_listed(bare)} has no policy, so nobody can use it", cure)


def _around(connection: Connected) -> Iterator[ServerFinding]:
    rows = connection.execute(_AROUND, {"schemas": [*SCHEMAS.values()]}, prepare=False).fetchall()
    for (name,) in rows:
        yield _problem(ISOLATION, f"{name} is not part of the schema and may show every vault", "drop it")


def rights(connection: Connected) -> Iterator[ServerFinding]:
    """Check that the role of `storage.url` may read and write rows and nothing else, and that nobody else may."""
    schemas = [*SCHEMAS.values()]
    rows = connection.execute(_RIGHTS, (schemas,), prepare=False).fetchall()
    found = [*_table_rights(rows), *_further_rights(connection, schemas)]
    yield from found
    if not found:
        yield ServerFinding(topic=RIGHTS, severity="fine", words="the role may read and write rows and nothing else")


def _table_rights(rows: Sequence[tuple[str, str, list[str]]]) -> Iterator[ServerFinding]:
    too_few: list[str] = []
    for schema, table, held in rows:
        wanted, more = {"SELECT"}, {"TRUNCATE", "REFERENCES", "TRIGGER"}
        if table == _OWN_LEDGER:
            more |= {"INSERT", "UPDATE", "DELETE"}
        elif schema == _VAULTS:
            wanted |= {"INSERT", "UPDATE", "DELETE"}
        if wanted - set(held):
            too_few.append(f"{schema}.{table}")
        for right in sorted(more & set(held)):
            cure = f"as the migrator: REVOKE {right} ON {schema}.{table} FROM {APPLICATION}, PUBLIC"
            yield _problem(RIGHTS, f"the role of storage.url has the right {right} on {schema}.{table}", cure)
    if too_few:
        cure = f"as the migrator: GRANT SELECT, INSERT, UPDATE, DELETE ON … TO {APPLICATION}"
        yield _problem(RIGHTS, f"the role of storage.url may not use {_listed(too_few)}", cure)


def _further_rights(connection: Connected, schemas: list[str]) -> Iterator[ServerFinding]:
    for role, schema in connection.execute(_GRANTED, (schemas, APPLICATION), prepare=False):
        cure = f"as the migrator: REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM that role"
        yield _problem(RIGHTS, f"{role} has rights on tables of the schema {schema}", cure)
    for (what,) in connection.execute(_MORE, {"schemas": schemas}, prepare=False):
        yield ServerFinding(
            topic=RIGHTS,
            severity="warning",
            words=f"the role of storage.url has a right that it does not need: {what}",
            cure="take it away as an administrator, from the role, the roles it is in, and PUBLIC",
        )


def texts(connection: Connected) -> Iterator[ServerFinding]:
    """Check that texts are UTF-8, and compared byte by byte as SQLite does."""
    ((encoding,),) = connection.execute(_ENCODING, prepare=False).fetchall()
    if encoding != "UTF8":
        cure = "create a database with ENCODING 'UTF8', and move the vaults: recollectum move"
        yield _problem(TEXTS, f"the database has the encoding {encoding}, which cannot hold every text", cure)
    rows = connection.execute(_COLLATIONS, ([*SCHEMAS.values()],), prepare=False).fetchall()
    others = [str(name) for (name,) in rows]
    if others:
        cure = 'as the migrator, for each: ALTER TABLE … ALTER COLUMN … TYPE text COLLATE "C"'
        words = f'{_listed(others)} does not have the collation "C", so lists have another order than on SQLite'
        yield _problem(TEXTS, words, cure)
    if encoding == "UTF8" and not others:
        yield ServerFinding(topic=TEXTS, severity="fine", words='UTF8, and byte by byte (collation "C")')
