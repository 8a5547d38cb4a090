"""The catalog moves while other programs write to it; they notice nothing, and a kill at any step loses nothing."""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import leases
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase, available, database_on
from tests.upkeep.homes import ANN
from tests.upkeep.move.homes import environ_of, killed_at, made, moved, opened, writing

pytestmark = pytest.mark.process

#: Where a move is killed: while it copies, before and after the mark, and before each of the steps that follow.
POINTS = (
    ("call", "CatalogMove.run"),
    ("call", "CatalogMove._copy"),
    ("call", "CatalogMove._end"),
    ("call", "*Catalog.leave"),
    ("return", "CatalogMove._end"),
    ("call", "*Catalog.enter"),
    ("return", "*Catalog.enter"),
    ("call", "_Journey._finish"),
    ("return", "mark_database"),
    ("return", "unset_value"),
    ("call", "clear_left_catalog"),
    ("call", "forget_split"),
    ("call", "forget_mark"),
)
#: Those that not every move comes to: to a database, to files, from a database.
_TO_DATABASE, _TO_FILES, _FROM_DATABASE = POINTS[8:11]
#: How many of the points are tried in each direction; the pairs of places share them. 13 is all of them.
KILLS = int(os.environ.get("RECOLLECTUM_CATALOG_KILLS", "1"))
PAIRS = ("files and a database", "a database and files", "two databases")
#: With few kills each pair runs on one of the servers.
RUNS = [
    (pair, server)
    for number, pair in enumerate(PAIRS)
    for server in (available() if KILLS > 1 else [available()[number % len(available())]])
]


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _points(pair: str, url: str, back: str, turn: int) -> list[tuple[str, str]]:
    missed = {_TO_FILES if url else _TO_DATABASE, *([] if back else [_FROM_DATABASE])}
    reached = [one for one in POINTS if one not in missed]
    first = (2 * PAIRS.index(pair) + turn) * KILLS
    return [reached[(first + number) % len(reached)] for number in range(min(KILLS, len(reached)))]


@pytest.mark.slow
@pytest.mark.parametrize(("pair", "server"), RUNS)
def test_a_catalog_moves_under_writes_and_kills(place: Path, pair: str, server: str) -> None:
    with database_on(server) as first, database_on(available()[-1]) as second:
        urls = {PAIRS[0]: ("", first.url()), PAIRS[1]: (first.url(), ""), PAIRS[2]: (first.url(), second.url())}
        here, there = urls[pair]
        made(place, here, [ANN], 4)
        kills = 0
        with writing(place, program="catalog_writing_program") as writers:
            for turn, (url, back) in enumerate(((there, here), (here, there))):
                for point in _points(pair, url, back, turn):
                    killed_at(place, url, point)
                    kills += 1
                    # The catalog is used where it is by now, whether or not the move was decided.
                    writers.more(4)
                    with suppress(Conflict):
                        moved(place, url)
                    writers.more(4)
                    moved(place, back)
                moved(place, url)
                writers.more(4)
        _check(place, writers.acknowledged)
    print(f"{pair}: {len(writers.acknowledged)} writes, {kills} kills")


def _check(place: Path, acknowledged: Sequence[str]) -> None:
    """Check that everything that was acknowledged is there once."""
    with opened(place) as home:
        now = home.admin.clock()
        entries = Counter(f"vault {entry.owner}" for entry in home.admin.entries())
        keys = Counter(f"key {key.id}" for key in home.keys.list())
        revoked = Counter(f"revoked {key.id}" for key in home.keys.list() if key.revoked_at)
        people = Counter(f"person {person.owner}" for person in home.people.list())
        found = entries + keys + revoked + people
        for one in acknowledged:
            kind, _, name = one.partition(" ")
            if kind == "identity":
                found[one] += str(home.people.resolve(f"mail:{name.removeprefix('user:')}@example.com")) == name
            elif kind == "lease":
                # Nobody else gets it.
                found[one] += not home.admin.catalog.claim(
                    lambda tx, name=name: leases.take(tx, name, "another", now, now + timedelta(days=1))
                )
            elif kind == "vault":
                assert len(home.vault(name).memories.list()) == 1, name
        lost = [one for one in acknowledged if not found[one]]
        assert not lost, f"{len(lost)} of {len(acknowledged)} are lost: {lost[:5]}"
        doubled = [one for one, count in found.items() if count > 1]
        assert not doubled, doubled[:5]
        # At most those that were not printed yet when the programs were told to end.
        assert len(entries) <= len([one for one in acknowledged if one.startswith("vault")]) + 3


def test_a_claim_that_is_running_holds_up_the_move_and_comes_along(postgres: PostgresDatabase, place: Path) -> None:
    made(place, postgres.url(), [ANN], 4)
    taken, let_go = threading.Event(), threading.Event()
    with opened(place) as home:
        now = system_clock()

        def claim(tx: Tx) -> bool:
            found = leases.take(tx, "one", "writer", now, now + timedelta(days=1))
            taken.set()
            return let_go.wait(60) and found

        claiming = threading.Thread(target=home.admin.catalog.claim, args=(claim,))
        moving = threading.Thread(target=moved, args=(place, ""))
        claiming.start()
        assert taken.wait(60)
        moving.start()
        try:
            with psycopg.connect(postgres.administrator_url, autocommit=True) as watching:
                waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
                while not watching.execute(waiting, [postgres.name]).fetchall():
                    assert moving.is_alive(), "the move did not wait"
        finally:
            let_go.set()
            claiming.join()
            moving.join()
        assert not home.admin.engine.place_of_catalog.startswith("/")
        assert not home.admin.catalog.claim(lambda tx: leases.take(tx, "one", "another", now, now + timedelta(days=1)))
        assert home.admin.engine.place_of_catalog.startswith("/")


def test_the_copy_of_another_move_is_not_taken_for_the_catalog(postgres: PostgresDatabase, place: Path) -> None:
    made(place, postgres.url(), [ANN], 4)
    settings = place / "home" / "settings.toml"
    with database_on(available()[-1]) as second:
        moved(place, second.url())
        killed_at(place, "", ("call", "CatalogMove._end"))
        kept = settings.read_text()
        # A program that knows only the first database, which the catalog left, and the copy of the second move.
        settings.write_text("\n".join(line for line in kept.splitlines() if "url" not in line))
        environ = {**environ_of(place), "RECOLLECTUM_STORAGE__URL": postgres.url()}
        with pytest.raises(StorageError, match=r"was moved away from postgresql.*set storage\.url"):
            Recollectum(place / "home", environ=environ)
        settings.write_text(kept)
        with opened(place) as home:
            assert second.name in home.admin.engine.place_of_catalog
            assert home.vault(ANN).memories.list(limit=1)
        assert moved(place, "").catalog
