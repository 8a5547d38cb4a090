"""Forgetting is physical: afterwards no byte of it is under the home, and until then nobody says that it is done."""

import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from tests.crashes.homes import vault_files
from tests.crashes.programs import run, start

pytestmark = [pytest.mark.process, pytest.mark.slow]

# Without vowels, so that stemming leaves them alone; the ends differ, because the index shares beginnings.
_FORGOTTEN = ("wqzkvbtrnx", "hjkzpqwvbm", "xcvrtplkmw")
_OLD_VERSION = "gfdwzrtqpb"
_KEPT = "mnbvcxzqwr"
_TAIL = 6


class Clock:
    """A clock that a test can turn."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path, clock: Clock) -> Iterator[Recollectum]:
    """An unencrypted home, where everything that is left can be seen."""
    settings = {"encryption": "off", "storage.busy_timeout_seconds": 0.3}
    with Recollectum(tmp_path / "home", settings=settings, clock=clock) as r:
        yield r


def _hits(home: Recollectum, *words: str) -> set[str]:
    """Which of the words, or their last letters, are anywhere under the home."""
    ends = [word[-_TAIL:] for word in words]
    return {line.partition(" ")[0] for line in run("tests.faults.grepping_program", str(home.home.root), *words, *ends)}


def _with_ends(*words: str) -> set[str]:
    return {*words, *(word[-_TAIL:] for word in words)}


def _remember(home: Recollectum) -> list[str]:
    """Memories with words that occur nowhere else, one of them in an old version only."""
    memories = home.vault("user:ann").memories
    for number in range(200):
        memories.save(f"number {number} stays, {_KEPT}")
    ids = [memories.save(f"the word is {word} and it is private").id for word in _FORGOTTEN]
    edited = memories.save(f"first it said {_OLD_VERSION}").id
    memories.edit(edited, "now it says something else")
    return [*ids, edited]


def _forget(home: Recollectum, ids: list[str], clock: Clock) -> None:
    for memory in ids:
        home.vault("user:ann").memories.forget(memory)
    clock.now += timedelta(days=8)


def test_nothing_of_a_forgotten_memory_is_left_under_the_home(home: Recollectum, clock: Clock) -> None:
    ids = _remember(home)
    _forget(home, ids, clock)
    private = (*_FORGOTTEN, _OLD_VERSION)
    assert _hits(home, *private) >= set(private)
    report = home.vault("user:ann").admin.lifecycle.run()
    assert (report.purged, report.erased) == (4, True)
    assert _hits(home, *private, _KEPT) == _with_ends(_KEPT)
    assert home.vault("user:ann").admin.index.verify().sound


def test_nothing_of_a_deleted_session_is_left_under_the_home(home: Recollectum) -> None:
    vault = home.vault("user:ann")
    kept = vault.sessions.open(channel="test", agent="main")
    chat = vault.sessions.open(channel="test", agent="other")
    for number in range(100):
        kept.add("user", f"number {number} stays, {_KEPT}")
        chat.add("user", f"turn {number}: {_FORGOTTEN[number % 3]}", thoughts=[{"text": _OLD_VERSION}])
    chat.describe(title=f"about {_OLD_VERSION}", summary=_FORGOTTEN[0])
    private = (*_FORGOTTEN, _OLD_VERSION)
    assert _hits(home, *private) >= set(private)
    assert vault.sessions.delete(chat.id)
    assert _hits(home, *private, _KEPT) == _with_ends(_KEPT)
    assert vault.admin.index.verify().sound


def test_while_a_reader_holds_on_to_the_past_nobody_says_that_it_is_gone(home: Recollectum, clock: Clock) -> None:
    ids = _remember(home)
    _forget(home, ids, clock)
    holding, let_go = threading.Event(), threading.Event()
    (path,) = vault_files(home.home.root)
    other = SqliteDatabase(path, SqliteOptions())

    def hold(tx: Tx) -> None:
        tx.rows("SELECT count(*) FROM memories", {})
        holding.set()
        assert let_go.wait(60)

    reader = threading.Thread(target=lambda: other.read(hold))
    reader.start()
    assert holding.wait(60)
    lifecycle = home.vault("user:ann").admin.lifecycle
    first = lifecycle.run()
    assert (first.purged, first.erased) == (4, False)
    assert _hits(home, *_FORGOTTEN) >= set(_FORGOTTEN)
    assert not lifecycle.run().erased
    let_go.set()
    reader.join()
    later = lifecycle.run()
    assert (later.purged, later.erased) == (0, True)
    assert _hits(home, *_FORGOTTEN, _OLD_VERSION) == set()
    other.close()


@pytest.mark.parametrize("statement", ["'optimize'", "wal_checkpoint"])
def test_a_kill_between_destroying_and_erasing_is_made_good_by_the_next_sweep(
    home: Recollectum, clock: Clock, statement: str
) -> None:
    ids = _remember(home)
    _forget(home, ids, clock)
    (path,) = vault_files(home.home.root)
    child = start("tests.faults.sweeping_program", str(path), clock.now.isoformat(), statement)
    assert child.wait() == -signal.SIGKILL
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.stdout.close()
    assert _hits(home, *_FORGOTTEN)
    report = home.vault("user:ann").admin.lifecycle.run()
    assert (report.purged, report.erased) == (0, True)
    assert _hits(home, *_FORGOTTEN, _OLD_VERSION) == set()
