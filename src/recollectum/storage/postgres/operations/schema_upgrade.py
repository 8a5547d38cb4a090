"""Connects as the migrator, and brings the schema of the database up to date."""

import psycopg

from recollectum.domain.ids import Clock
from recollectum.storage.postgres.connections.address import ROWS, DatabaseUse, read_address
from recollectum.storage.postgres.connections.rights import check_version
from recollectum.storage.postgres.failures import translate, unreachable
from recollectum.storage.postgres.migrate import pending, upgrade


def upgrade_schema(url: str, clock: Clock, use: DatabaseUse = ROWS, *, dry_run: bool) -> tuple[str, ...]:
    """Run the pending steps as the role of this address; return those that ran, or would run."""
    address = use.of(read_address(url, use.setting))
    try:
        # Nothing is prepared: each step runs once, and a pooler may be in between.
        connection = psycopg.connect(**address.options, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise unreachable(error, address.words) from None
    with connection:
        check_version(connection, address.words)
        try:
            steps = pending(connection) if dry_run else upgrade(connection, clock=clock)
        except psycopg.Error as error:
            raise translate(error, address.words) from None
    return tuple(step.label for step in steps)
