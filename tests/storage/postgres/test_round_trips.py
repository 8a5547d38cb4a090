"""Operations on PostgreSQL wait for the server a few times at most, as a proxy before it sees."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase
from tests.recall.homes import scripted
from tests.storage.postgres.cutting_proxy import CuttingProxy, proxied

RECALL, FILTERED, CONTEXT, SAVE, SAY = 8, 10, 15, 3, 3
#: Transactions of one operation, each of which is begun and ended: the catalog's, and the vault's.
TRANSACTIONS = 3

Counted = tuple[Vault, CuttingProxy]


@pytest.fixture(params=["words", "meaning"])
def counted(request: pytest.FixtureRequest, postgres: PostgresDatabase, tmp_path: Path) -> Iterator[Counted]:
    """A vault with memories and a conversation, warm, with and without vectors."""
    embedder = scripted() if request.param == "meaning" else None
    settings = {"encryption": "off"}
    with (
        proxied(postgres) as (proxy, url),
        Recollectum(tmp_path / "home", settings={**settings, "storage.url": url}, embedder=embedder) as home,
    ):
        vault = home.vault("user:ann")
        vault.memories.save_many([Draft(content=f"the car number {number} of Ann is red") for number in range(60)])
        vault.sessions.open().add_many(
            [
                NewMessage(role="user" if n % 2 else "assistant", content=f"boat {n} and a car", speaker="Ann")
                for n in range(40)
            ]
        )
        if embedder:
            vault.admin.index.update()
        vault.recall("red car")
        vault.context("red car")
        yield vault, proxy


def _trips(proxy: CuttingProxy, work: Callable[[], object]) -> int:
    # A statement is prepared when it is sent for the second time.
    work()
    work()
    trips, frames = proxy.trips, proxy.frames
    work()
    assert proxy.frames - frames <= 2 * TRANSACTIONS
    return proxy.trips - trips


@pytest.mark.parametrize("query", ["red car boat", "Where is Ann's red car?", "what did I say last week about a boat"])
def test_a_recall(counted: Counted, query: str) -> None:
    vault, proxy = counted
    assert _trips(proxy, lambda: vault.recall(query)) <= RECALL


def test_a_filtered_recall(counted: Counted) -> None:
    vault, proxy = counted
    assert _trips(proxy, lambda: vault.recall("red car boat", speaker="Ann")) <= FILTERED


def test_a_context(counted: Counted) -> None:
    vault, proxy = counted
    assert _trips(proxy, lambda: vault.context("red car boat")) <= CONTEXT


def test_a_save(counted: Counted) -> None:
    vault, proxy = counted
    numbers = iter(range(10))
    assert _trips(proxy, lambda: vault.memories.save(f"a plane {next(numbers)} flies")) <= SAVE


def test_a_message(counted: Counted) -> None:
    vault, proxy = counted
    chat = vault.sessions.open()
    numbers = iter(range(10))
    assert _trips(proxy, lambda: chat.add("user", f"a plane {next(numbers)} flies")) <= SAY


def test_many_are_saved_and_added_in_as_many_trips_as_a_few(counted: Counted) -> None:
    vault, proxy = counted
    numbers = iter(range(1_000_000))

    def save(count: int) -> None:
        named = [str(next(numbers)) for _ in range(count)]
        vault.memories.save_many([Draft(content=f"ship {name} sails", key=f"ship_{name}") for name in named])

    def say(count: int) -> None:
        named = [str(next(numbers)) for _ in range(count)]
        said = [NewMessage(role="user", content=f"ship {name}", native_id=name) for name in named]
        vault.sessions.open().add_many(said)

    for work in (save, say):
        few = _trips(proxy, lambda work=work: work(4))
        assert _trips(proxy, lambda work=work: work(300)) <= few + 2
