"""What goes over the connections to a server is counted, and `/metrics` shows it without a name or an address."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollectum.domain.errors import Busy, Unreachable
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.trail import meta
from tests.doors.http.served import serving
from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase
from tests.storage.postgres.cutting_proxy import proxied
from tests.storage.postgres.engines import engine_of, vault_of


def _numbers(engine: PostgresEngine) -> dict[tuple[str, str], float]:
    return {(one.name, value): number for one in engine.server.figures() for value, number in one.values.items()}


def test_transactions_and_connections_are_counted(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), connections=3)
    assert not any(number for (name, _), number in _numbers(engine).items() if not name.endswith("_limit"))
    with vault_of(engine) as vault:
        before = _numbers(engine)
        vault.read(lambda tx: tx.state)
        vault.write(lambda tx: meta.save(tx, "a", "b"))
        vault.claim(lambda tx: tx.state)
        during: list[dict[tuple[str, str], float]] = []
        vault.read(lambda _: during.append(_numbers(engine)))
        after = _numbers(engine)
    assert during[0]["database_connections", "used"] == 1
    assert after["database_connections", "used"] == 0
    assert after["database_connections", "idle"] == 1
    assert after["database_connections_limit", ""] == 3
    grown = {kind: after["database_transactions", kind] - before.get(("database_transactions", kind), 0) for kind in
             ("read", "write", "claim")}  # fmt: skip
    assert grown == {"read": 2, "write": 1, "claim": 1}
    # The pool is closed now, and its numbers are kept.
    closed = _numbers(engine)
    assert closed["database_connections", "idle"] == 0
    assert closed["database_connections_opened", ""] == after["database_connections_opened", ""] > 0


def test_who_waits_for_a_connection_and_who_gets_none_is_counted(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), connections=1, busy_timeout_seconds=0.3)
    with vault_of(engine) as vault, ThreadPoolExecutor(1) as pool:

        def read_beside(_: object) -> None:
            with pytest.raises(Busy):
                pool.submit(vault.read, lambda tx: tx.state).result()

        vault.read(read_beside)
        found = _numbers(engine)
    assert found["database_errors", "Busy"] == 1
    assert found["database_waits", ""] >= 1
    assert found["database_wait_seconds", ""] >= 0.2
    assert found["database_waiting", ""] == 0


def test_commits_without_an_answer_are_counted_by_what_became_of_them(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    with proxied(postgres) as (proxy, url):
        engine = engine_of(tmp_path, url)
        with vault_of(engine) as vault:
            proxy.cut("back")
            vault.write(lambda tx: meta.save(tx, "stored", "x"))
            proxy.cut("there")
            with pytest.raises(Unreachable):
                vault.write(lambda tx: meta.save(tx, "not stored", "x"))
            found = _numbers(engine)
    assert found["database_lost_commits", "stored"] == 1
    assert found["database_lost_commits", "not stored"] == 1
    assert found["database_errors", "Unreachable"] == 1


@pytest.mark.loopback
def test_metrics_show_them_and_tell_nothing_else(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"storage.url": postgres.url(), "encryption": "off"}) as served:
        client = served.with_key(served.new_key("user:alice"))
        client.ask("POST", "/v1/memories", {"content": "canary5c"})
        told = client.ask("GET", "/metrics").body.decode()
    assert "# TYPE recollectum_database_connections gauge" in told
    assert 'recollectum_database_connections{state="used"} 0.0' in told
    assert 'recollectum_database_transactions_total{kind="write"}' in told
    for word in ("canary5c", "alice", postgres.name, APPLICATION_LOGIN, "postgresql:"):
        assert word not in told
