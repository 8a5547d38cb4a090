"""A COMMIT whose answer is lost is neither lost nor done twice: the server is asked what became of it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.domain.errors import StorageError, Undecided, Unreachable
from recollectum.domain.event import EventType
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import commits
from recollectum.storage.tables.trail import events, meta
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import proxied
from tests.storage.postgres.engines import engine_of, vault_of

_NOW = datetime(2026, 11, 18, tzinfo=UTC)


def _save(tx: Tx) -> None:
    meta.save(tx, "a", "b")


def _save_and_tell(tx: Tx) -> None:
    """The event is sent with the COMMIT."""
    _save(tx)
    events.add(tx, EventType.CREATED, "memory", "mem_1", at=_NOW, actor="user:ann")


def _save_and_tell_much(tx: Tx) -> None:
    """The server has begun with the event, which is large, when the COMMIT is sent."""
    _save(tx)
    events.add(tx, EventType.CREATED, "memory", "mem_1", at=_NOW, actor="user:ann", payload={"text": "x" * 100_000})


def _count(vault: Database) -> tuple[bool, int]:
    def count(tx: Tx) -> tuple[bool, int]:
        return meta.find(tx, "a") is not None, len(events.of(tx, "mem_1"))

    return vault.read(count)


WORKS = pytest.mark.parametrize("work", [_save, _save_and_tell, _save_and_tell_much])


@WORKS
def test_a_commit_whose_answer_is_lost_counts(
    postgres: PostgresDatabase, tmp_path: Path, work: Callable[[Tx], None]
) -> None:
    with proxied(postgres) as (proxy, url), vault_of(engine_of(tmp_path, url)) as vault:
        calls: list[int] = []
        proxy.cut("back")
        vault.write(lambda tx: (calls.append(1), work(tx)))
        assert proxy.has_cut
        assert _count(vault) == (True, work is not _save)
        assert calls == [1]


@WORKS
def test_a_commit_that_never_arrived_wrote_nothing(
    postgres: PostgresDatabase, tmp_path: Path, work: Callable[[Tx], None]
) -> None:
    with proxied(postgres) as (proxy, url), vault_of(engine_of(tmp_path, url)) as vault:
        proxy.cut("there")
        with pytest.raises(StorageError, match="nothing was written; try again"):
            vault.write(work)
        assert proxy.has_cut
        assert _count(vault) == (False, 0)
        vault.write(work)
        assert _count(vault) == (True, work is not _save)


def test_a_statement_that_fails_beside_the_commit_fails_the_write(postgres: PostgresDatabase, tmp_path: Path) -> None:
    def work(tx: Tx) -> None:
        _save_and_tell(tx)
        tx.add_rows("INSERT INTO erased (id) VALUES (:id)", [{"id": "mem_2"}])
        tx.add_rows("INSERT INTO erased (id) VALUES (:id)", [{"id": "mem_2"}])

    with vault_of(engine_of(tmp_path, postgres.url())) as vault:
        for _ in range(3):
            with pytest.raises(StorageError):
                vault.write(work)
            assert _count(vault) == (False, 0)
        vault.write(_save_and_tell)
        assert _count(vault) == (True, 1)


@WORKS
def test_a_server_that_stops_before_the_commit_is_no_success(
    postgres: PostgresDatabase, tmp_path: Path, work: Callable[[Tx], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_WAIT_SECONDS", 0.2)
    with (
        proxied(postgres) as (proxy, url),
        vault_of(engine_of(tmp_path, url)) as vault,
        pytest.raises((Unreachable, Undecided)),
    ):
        vault.write(lambda tx: (work(tx), proxy.warn_and_close()))
