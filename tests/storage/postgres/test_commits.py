"""A COMMIT whose answer is lost is neither lost nor done twice: the server is asked what became of it."""

from pathlib import Path

import pytest

from recollectum.domain.errors import StorageError
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import proxied
from tests.storage.postgres.engines import engine_of, vault_of


def test_a_commit_whose_answer_is_lost_counts(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with proxied(postgres) as (proxy, url), vault_of(engine_of(tmp_path, url)) as vault:
        calls: list[int] = []
        proxy.cut("back")
        vault.write(lambda tx: (calls.append(1), meta.save(tx, "a", "b")))
        assert proxy.has_cut
        assert vault.read(lambda tx: meta.find(tx, "a")) == "b"
        assert calls == [1]


def test_a_commit_that_never_arrived_wrote_nothing(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with proxied(postgres) as (proxy, url), vault_of(engine_of(tmp_path, url)) as vault:
        proxy.cut("there")
        with pytest.raises(StorageError, match="nothing was written; try again"):
            vault.write(lambda tx: meta.save(tx, "a", "b"))
        assert proxy.has_cut
        assert vault.read(lambda tx: meta.find(tx, "a")) is None
        vault.write(lambda tx: meta.save(tx, "a", "c"))
        assert vault.read(lambda tx: meta.find(tx, "a")) == "c"
