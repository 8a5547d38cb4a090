"""Recall and context from a replica: what this process has seen is always in the answer, and writes go elsewhere."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import SettingsError, Unreachable
from recollectum.settings.storage import StorageSettings
from recollectum.storage.postgres.connections.address import read_address
from recollectum.storage.postgres.connections.pool import PoolOptions, SharedPool
from recollectum.storage.postgres.connections.replica import PAUSE, Replica
from recollectum.storage.postgres.connections.rights import check_server
from recollectum.storage.postgres.connections.schema_watch import SchemaWatch
from recollectum.storage.postgres.migrate import newer
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.plugins.postgres_pairs import ServerPair, wait_until
from tests.storage.postgres.engines import engine_of

ANN, BEN = "user:ann", "user:ben"
_CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recollectum'"
_REPLAYED = "SELECT pg_get_wal_replay_pause_state()"


@dataclass
class Servers:
    """A process that may read from the standby, and one on the primary alone."""

    pair: ServerPair
    home: Recollectum
    other: Recollectum

    @property
    def ann(self) -> Vault:
        return self.home.vault(ANN)

    def pause(self) -> None:
        self.pair.standby.run("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.pair.standby.run(_REPLAYED) == [("paused",)])

    def resume(self) -> None:
        self.pair.standby.run("SELECT pg_wal_replay_resume()")
        self.pair.wait_for_replay()


@pytest.fixture
def servers(tmp_path: Path, server_pair: ServerPair) -> Iterator[Servers]:
    primary = {"storage.url": server_pair.primary.database.url(), "storage.open_vaults": 1}
    replica = {**primary, "storage.replica_url": server_pair.standby.database.url()}
    with ExitStack() as stack:
        home, other = (
            stack.enter_context(open_home(tmp_path / name, Turning(), settings=settings))
            for name, settings in (("home", replica), ("other", primary))
        )
        yield Servers(server_pair, home, other)


def recalled(vault: Vault, query: str) -> tuple[bool, list[str]]:
    """Whether a replica answered, and what."""
    found = vault.recall(query)
    return found.replica, sorted(hit.text for hit in found)


def test_a_replica_answers_if_it_has_reached_what_this_process_saw(servers: Servers) -> None:
    ann = servers.ann
    ann.memories.save("the kettle is red")
    servers.resume()
    assert recalled(ann, "kettle") == (True, ["the kettle is red"])
    assert ann.context("kettle").ledger.replica
    ((clients,),) = servers.pair.standby.run(_CLIENTS)
    assert clients

    # A write of this process is in the next answer, also after the vault was closed and opened again.
    servers.pause()
    ann.memories.save("the kettle has a dent")
    both = ["the kettle has a dent", "the kettle is red"]
    assert recalled(ann, "kettle") == (False, both)
    assert not ann.context("kettle").ledger.replica
    servers.home.vault(BEN).memories.save("another vault takes the place of the first")
    assert recalled(servers.ann, "kettle") == (False, both)

    # With the replica behind, a write of another process may be missing, and the answer says so.
    servers.resume()
    assert recalled(ann, "kettle") == (True, both)
    servers.pause()
    servers.other.vault(ANN).memories.save("the kettle was sold")
    assert recalled(ann, "kettle") == (True, both)
    # What was seen once is not unseen.
    assert len(ann.memories.list()) == 3
    assert recalled(ann, "kettle") == (False, [*both, "the kettle was sold"])
    servers.resume()
    assert recalled(ann, "kettle") == (True, [*both, "the kettle was sold"])


def test_what_a_replica_lacks_or_cannot_answer_the_primary_does(servers: Servers) -> None:
    ann = servers.ann
    ann.memories.save("the kettle is red")
    servers.resume()
    assert recalled(ann, "kettle")[0]
    servers.pause()
    chat = servers.other.vault(ANN).sessions.open(channel="test")
    chat.add("user", "is the kettle red?")
    # The replica has no such session.
    made = ann.context("kettle", session_id=chat.id)
    assert "is the kettle red?" in str(made.messages)
    assert not made.ledger.replica
    servers.resume()
    assert recalled(ann, "kettle")[0]

    servers.pair.primary.run("ALTER SYSTEM SET synchronous_standby_names = ''")
    servers.pair.primary.run("SELECT pg_reload_conf()")
    servers.pair.standby.kill()
    assert recalled(ann, "kettle") == (False, ["is the kettle red?", "the kettle is red"])
    ann.memories.save("the kettle has a dent")
    assert recalled(ann, "dent")[1] == ["the kettle has a dent"]


def test_a_replica_that_is_away_is_asked_by_one_reader_now_and_then(tmp_path: Path) -> None:
    now = [100.0]
    options = PoolOptions(most=2, prepares=True, wait_seconds=0.1, statement_ms=0)
    pool = SharedPool(read_address(f"postgresql:///memory?host={tmp_path}"), options, check_server, SchemaWatch(newer))
    replica = Replica(pool, lambda: now[0])
    replica.join()
    assert replica.may_answer()
    # The others do not wait for the first one.
    assert not replica.may_answer()
    with pytest.raises(Unreachable), replica.begun(b"SELECT 1"):
        pass
    assert not replica.may_answer()
    now[0] += PAUSE
    assert replica.may_answer()
    assert not replica.may_answer()
    replica.leave()


def test_an_address_of_a_replica_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert StorageSettings().replica_url == ""
    with pytest.raises(SettingsError, match=r"storage\.replica_url cannot be read"):
        engine_of(tmp_path, "postgresql:///memory", replica_url="postgresql://[")
