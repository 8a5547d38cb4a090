"""Tells whether two addresses lead to the same database, or to the same server."""

import psycopg

from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.failures import translate

#: The server's own number, which its standbys and its base backups have too.
_SERVER = "SELECT system_identifier FROM pg_control_system()"
_DATABASE = "SELECT oid::bigint FROM pg_database WHERE datname = current_database()"


def is_same_database(one: SharedPool, other: SharedPool) -> bool:
    """Return whether both lead to one database."""
    return _identity(one) == _identity(other)


def is_same_server(one: SharedPool, other: SharedPool) -> bool:
    """Return whether both lead to one server, whose base backups have all its databases."""
    return _identity(one)[0] == _identity(other)[0]


def _identity(pool: SharedPool) -> tuple[object, object]:
    connection = pool.direct()
    try:
        ((server,),) = connection.execute(_SERVER, prepare=False).fetchall()
        ((database,),) = connection.execute(_DATABASE, prepare=False).fetchall()
        return server, database
    except psycopg.Error as error:
        raise translate(error, pool.place) from None
    finally:
        connection.close()
