"""Refuses a role that row-level security does not bind: a superuser, the owner of the tables, and their members."""

from recollectum.domain.errors import StorageError
from recollectum.storage.postgres.connections.connection import Connected

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


def check_rights(connection: Connected, place: str) -> None:
    """Raise unless row-level security binds the role of a connection."""
    stronger = [str(row[0]) for row in connection.execute(_STRONGER, prepare=False)]
    if stronger:
        raise StorageError(
            f"the role of storage.url in {place} is or may become {stronger[0]}, which may read every vault; "
            "give storage.url the application role, which owns nothing"
        )
