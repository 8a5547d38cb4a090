"""A server that crashes is found again, and a write that it lost is never reported as stored."""

from pathlib import Path

import pytest

from recollectum.domain.errors import Unreachable
from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres_pairs import OwnServer
from tests.storage.postgres.engines import BOB, engine_of, vault_of


def _transaction(tx: Tx) -> str:
    return str(tx.rows("SELECT CAST(pg_current_xact_id() AS text)", {})[0][0])


def test_a_write_that_a_crash_lost_is_not_taken_for_another_with_its_number(
    own_server: OwnServer, tmp_path: Path
) -> None:
    """After a crash the server gives the numbers of unfinished transactions to others."""
    own_server.run("ALTER SYSTEM SET wal_writer_delay = '10s'", "postgres")
    own_server.run("SELECT pg_reload_conf()")
    engine = engine_of(tmp_path, own_server.database.url())
    with vault_of(engine) as ann, vault_of(engine, BOB) as bob:
        lost: list[str] = []

        def work(tx: Tx) -> None:
            meta.save(tx, "a", "b")
            lost.append(_transaction(tx))
            own_server.kill()
            own_server.start()
            while bob.write(lambda tx: (meta.save(tx, "c", "d"), _transaction(tx))[1]) != lost[0]:
                pass

        with pytest.raises(Unreachable, match="nothing was written; try again"):
            ann.write(work)
        assert own_server.run(f"SELECT pg_xact_status('{lost[0]}')") == [("committed",)]
        assert ann.read(lambda tx: meta.find(tx, "a")) is None
        ann.write(lambda tx: meta.save(tx, "a", "b"))
