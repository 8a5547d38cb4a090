"""Refuses a server that is too old, and a role that row-level security does not bind, such as a superuser."""

from recollectum.domain.errors import StorageError
from recollectum.storage.postgres.connections.connection import Connected

#: The first version whose row-level security, functions and settings the schema relies on.
_OLDEST = 15
#: The names of all roles that this one is, or may become, and that see every row.
_STRONGER = """
    SELECT rolname FROM pg_roles
     WHERE (rolsuper OR rolbypassrls
            OR oid IN (SELECT nspowner FROM pg_namespace WHERE nspname IN ('recollectum', 'recollectum_catalog'))
            OR oid IN (SELECT relowner FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                        WHERE nspname IN ('recollectum', 'recollectum_catalog')))
       AND (pg_has_role(session_user, oid, 'MEMBER') OR pg_has_role(current_user, oid, 'MEMBER'))
     ORDER BY rolname
"""


def check_server(connection: Connected, place: str, setting: str = "storage.url") -> None:
    """Raise unless the server is new enough, and row-level security binds the role of a connection."""
    check_version(connection, place)
    stronger = [str(row[0]) for row in connection.execute(_STRONGER, prepare=False)]
    if stronger:
        raise StorageError(
            f"the role of {setting} in {place} is or may become {stronger[0]}, which may read every vault; "
            f"give {setting} the application role, which owns nothing"
        )


def check_version(connection: Connected, place: str) -> None:
    """Raise unless the server is new enough."""
    version = connection.info.server_version // 10_000
    if version < _OLDEST:
        raise StorageError(f"{place} is PostgreSQL {version}; upgrade the server to {_OLDEST} or later")
