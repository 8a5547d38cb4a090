"""Creates the roles of a PostgreSQL server: one owns the tables, one migrates them, one uses them."""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString

from psycopg import Connection, sql

#: Owns the schemas and all tables. It has no login.
OWNER = "recollectum_owner"
#: Holds the rights of the application's logins: rows only. It owns nothing, and has no login.
APPLICATION = "recollectum_application"

_EXISTS = "SELECT 1 FROM pg_roles WHERE rolname = %s"
_CREATE_GROUP = sql.SQL("CREATE ROLE {role} NOLOGIN")
_CREATE_LOGIN = sql.SQL("CREATE ROLE {role} LOGIN")
_MEMBERS = ("GRANT {owner} TO {migrator}", "GRANT {application} TO {login}")
_RIGHTS = (
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
    "GRANT CONNECT ON DATABASE {database} TO {migrator}, {application}",
    "GRANT CREATE ON DATABASE {database} TO {owner}",
)


def create_roles(connection: Connection[Any], migrator: str, login: str) -> None:
    """Create the missing roles of a server; an administrator's connection does it.

    `migrator` is the login that runs the schema steps, `login` the one of the servers. Neither gets a password here.
    """
    groups, logins = dict.fromkeys((OWNER, APPLICATION), _CREATE_GROUP), dict.fromkeys((migrator, login), _CREATE_LOGIN)
    for role, statement in {**groups, **logins}.items():
        if not connection.execute(_EXISTS, (role,)).fetchall():
            connection.execute(statement.format(role=sql.Identifier(role)))
    _run(connection, _MEMBERS, {"owner": OWNER, "application": APPLICATION, "migrator": migrator, "login": login})


def grant_rights(connection: Connection[Any], migrator: str) -> None:
    """Give the roles their rights in this database, and take those of everybody else."""
    names = {"owner": OWNER, "application": APPLICATION, "migrator": migrator, "database": connection.info.dbname}
    _run(connection, _RIGHTS, names)


def _run(connection: Connection[Any], statements: Iterable[LiteralString], names: Mapping[str, str]) -> None:
    words = {word: sql.Identifier(name) for word, name in names.items()}
    for statement in statements:
        connection.execute(sql.SQL(statement).format(**words))
