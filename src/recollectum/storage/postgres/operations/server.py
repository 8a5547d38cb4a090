"""Finds out for an operator how a PostgreSQL server and the database on it are."""

from collections.abc import Iterator

import psycopg

from recollectum.domain.telemetry.figure import Figure
from recollectum.domain.telemetry.spans import Spans
from recollectum.storage.engine import ServerFinding
from recollectum.storage.postgres.connections.address import DatabaseAddress
from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.failures import translate
from recollectum.storage.postgres.operations import schema_checks, server_checks
from recollectum.storage.postgres.operations.index_checks import indexes


class PostgresServer:
    """The server of one database; see `storage.engine.DatabaseServer`."""

    def __init__(self, pool: SharedPool, replica: DatabaseAddress | None) -> None:
        self._pool = pool
        self._replica = replica

    def findings(self) -> list[ServerFinding]:
        """Check the server, the rights and the schema, as the role of `storage.url` sees them."""
        try:
            return [*self._findings()]
        except psycopg.Error as error:
            raise translate(error, self._pool.place) from None

    def figures(self) -> list[Figure]:
        """Return the numbers of the connections of this process."""
        return self._pool.figures()

    def trace(self, spans: Spans) -> None:
        """Measure each transaction from now on."""
        self._pool.traffic.spans = spans

    def _findings(self) -> Iterator[ServerFinding]:
        connection, address = self._pool.direct(), self._pool.address
        try:
            yield from server_checks.version(connection)
            yield from schema_checks.steps(connection)
            yield from server_checks.pooler(connection, address, prepares=self._pool.options.prepares)
            yield from schema_checks.rights(connection)
            yield from schema_checks.isolation(connection)
            yield from schema_checks.texts(connection)
            yield from indexes(connection)
            yield from server_checks.durability(connection)
            yield from server_checks.vacuum(connection)
            yield from server_checks.standbys(connection, address, self._replica)
        finally:
            connection.close()
