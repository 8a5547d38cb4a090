"""Troubles of a server while a home is open: a sentence while they last, then everything goes on by itself.

Every write that was acknowledged is there once, and none that was refused.
"""

import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Busy, DiskFull, ReadOnly, Unreachable
from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase
from tests.plugins.postgres_pairs import OwnServer, ServerPair, wait_until
from tests.storage.postgres.engines import ANN, administer, engine_of, vault_of
from tests.storage.postgres.faults.small_disks import on_small_disk

_CLOSE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
_CONNECTIONS = 3
_CONNECTED = "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"


def _contents(vault: Vault) -> list[str]:
    return sorted(one.content for one in vault.memories.list())


def _close_all(postgres: PostgresDatabase) -> None:
    administer(postgres, _CLOSE.format(postgres.name))
    wait_until(lambda: administer(postgres, _CONNECTED.format(postgres.name)) == [(0,)])


def _settings(url: str) -> dict[str, object]:
    return {"storage.url": url, "encryption": "off", "storage.busy_timeout_seconds": 0.5}


def test_a_server_that_has_no_connection_left_for_a_while(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_settings(postgres.url())) as home:
        vault = home.vault("user:ann")
        vault.memories.save("the car is red")
        administer(postgres, f"ALTER DATABASE {postgres.name} CONNECTION LIMIT 0")
        _close_all(postgres)
        for _ in range(2):
            with pytest.raises(Busy, match="no connection left"):
                vault.memories.save("the boat is blue")
        administer(postgres, f"ALTER DATABASE {postgres.name} CONNECTION LIMIT -1")
        assert _contents(vault) == ["the car is red"]
        vault.memories.save("the boat is blue")
        assert _contents(vault) == ["the boat is blue", "the car is red"]


def test_a_server_that_is_read_only_for_a_while(postgres: PostgresDatabase, tmp_path: Path) -> None:
    settings = {**_settings(postgres.url()), "storage.connections": _CONNECTIONS}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ann")
        vault.memories.save("the car is red")
        administer(postgres, f"ALTER DATABASE {postgres.name} SET default_transaction_read_only = on")
        _close_all(postgres)
        for _ in range(2):
            with pytest.raises(ReadOnly, match="accepts no writes"):
                vault.memories.save("the boat is blue")
            assert _contents(vault) == ["the car is red"]
        administer(
            PostgresDatabase(postgres.server, "postgres"),
            f"ALTER DATABASE {postgres.name} RESET default_transaction_read_only",
        )
        # A connection that was opened as read-only stays so, and is replaced when it refuses a write.
        for _ in range(_CONNECTIONS + 1):
            with suppress(ReadOnly):
                vault.memories.save("the boat is blue")
                break
        assert _contents(vault) == ["the boat is blue", "the car is red"]


def test_a_server_whose_disk_is_full_for_a_while(own_server: OwnServer, tmp_path: Path) -> None:
    disk = on_small_disk(own_server)
    chance = random.Random(7)
    with Recollectum(tmp_path / "home", settings={"storage.url": own_server.database.url()}) as home:
        chat = home.vault("user:ann").sessions.open()

        def say(number: int) -> None:
            chat.add("user", f"turn {number} {chance.randbytes(20_000).hex()}", native_id=str(number))

        def said() -> list[str | None]:
            return [one.native_id for one in chat.messages(limit=1000)]

        say(0)
        disk.fill()
        stored = 1
        # Until the pages that the tables have are full too.
        with suppress(DiskFull):
            while stored < 200:
                say(stored)
                stored += 1
        assert sorted(map(int, filter(None, said()))) == list(range(stored))
        assert home.vault("user:ann").recall("turn")
        with pytest.raises(DiskFull, match=r"the disk of .* is full; nothing was written"):
            say(stored)
        disk.free()
        say(stored)
        assert sorted(map(int, filter(None, said()))) == list(range(stored + 1))
        assert home.vault("user:ann").admin.index.verify().sound


def test_a_standby_refuses_writes_in_words_until_it_is_promoted(server_pair: ServerPair, tmp_path: Path) -> None:
    with vault_of(engine_of(tmp_path, server_pair.primary.database.url())) as vault:
        vault.write(lambda tx: meta.save(tx, "a", "b"))
    server_pair.wait_for_replay()
    vault = engine_of(tmp_path, server_pair.standby.database.url()).open_vault("vlt_ann", ANN, None)
    try:
        assert vault.read(lambda tx: meta.find(tx, "a")) == "b"
        with pytest.raises(ReadOnly, match="it is a standby"):
            vault.write(lambda tx: meta.save(tx, "a", "c"))
        server_pair.primary.kill()
        server_pair.standby.promote()
        vault.write(lambda tx: meta.save(tx, "a", "c"))
        assert vault.read(lambda tx: meta.find(tx, "a")) == "c"
    finally:
        vault.close()


def test_a_write_that_takes_too_long_leaves_nothing(postgres: PostgresDatabase, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, postgres.url(), statement_timeout_seconds=2)

    def work(tx: Tx) -> None:
        meta.save(tx, "a", "b")
        tx.rows("SELECT pg_sleep(60)", {})

    with vault_of(engine) as vault:
        with pytest.raises(Busy, match="statement_timeout_seconds"):
            vault.write(work)
        assert vault.read(lambda tx: meta.find(tx, "a")) is None
        vault.write(lambda tx: meta.save(tx, "a", "c"))
        assert vault.read(lambda tx: meta.find(tx, "a")) == "c"


def test_the_process_of_the_server_is_killed_in_the_middle_of_a_write(own_server: OwnServer, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, own_server.database.url(), busy_timeout_seconds=60)

    def work(tx: Tx) -> None:
        meta.save(tx, "a", "b")
        ((process,),) = tx.rows("SELECT pg_backend_pid()", {})
        os.kill(int(process), signal.SIGKILL)
        meta.save(tx, "c", "d")

    with vault_of(engine) as vault:
        vault.write(lambda tx: meta.save(tx, "before", "1"))
        with pytest.raises(Unreachable, match="nothing was written; try again"):
            vault.write(work)
        # The server recovers, and so does this process.
        vault.write(lambda tx: meta.save(tx, "after", "2"))
        found = {name: vault.read(lambda tx, name=name: meta.find(tx, name)) for name in ("before", "a", "c", "after")}
    assert found == {"before": "1", "a": None, "c": None, "after": "2"}
