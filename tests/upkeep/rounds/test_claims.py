"""Claims of rounds: one server takes what is due, others pass it by, and after a lost lease nothing is stored."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from recollectum import Recollectum
from recollectum.storage.tables.catalog import rounds
from recollectum.storage.tables.catalog.rounds import RoundClaim, RoundRow
from recollectum.upkeep.rounds.duties import UpkeepRuntime
from tests.matrix.homes import Turning, open_home, quick_folder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
#: Each case has a round of its own, so that one home serves all of them.
NAME, WRITTEN, FAILED, SET_BACK, HOME = "retention", "indexing", "summaries", "consolidation", "backup"


@pytest.fixture
def home(engine_settings: dict[str, object]) -> Iterator[Recollectum]:
    with quick_folder() as place, open_home(place, Turning(), settings=engine_settings) as opened:
        opened.vault("user:ann").memories.save("tea")
        yield opened


def wanted(token: str, now: datetime, name: str = NAME, *, everything: bool = False) -> RoundClaim:
    return RoundClaim(token=token, name=name, every_seconds=60, now=now, until=now + MINUTE, everything=everything)


def marks(home: Recollectum) -> dict[str, str]:
    ids = [entry.id for entry in home.admin.entries()]
    return {} if home.admin.engine.counts_writes else home.admin.engine.write_marks(ids, timedelta())


def claim(
    home: Recollectum, now: datetime, token: str = "one", name: str = NAME, *, everything: bool = False
) -> dict[str, RoundRow | None]:
    given = marks(home)
    return home.admin.catalog.claim(
        lambda tx: rounds.claim(tx, wanted(token, now, name, everything=everything), given, (), 16)
    )


def finish(
    home: Recollectum, token: str = "one", name: str = NAME, *, failures: int = 0, next_in: timedelta = HOUR
) -> bool:
    (entry,) = home.admin.entries()
    row = RoundRow(
        name=name,
        vault=entry.id,
        every_seconds=60,
        started_at=NOW,
        finished_at=NOW,
        next_at=NOW + next_in,
        failures=failures,
        trouble="it failed" if failures else None,
    )
    given = marks(home)
    return home.admin.catalog.claim(lambda tx: rounds.finish(tx, row, token, given))


def settled(home: Recollectum, name: str, *, failures: int = 0, next_in: timedelta = HOUR) -> None:
    """The round was made at `NOW`."""
    (found,) = claim(home, NOW, name=name).values()
    assert found is None
    assert finish(home, name=name, failures=failures, next_in=next_in)


def test_a_round_is_due_at_its_time_after_a_write_after_a_failure_only_in_time_and_when_a_clock_was_set_back(
    home: Recollectum,
) -> None:
    settled(home, NAME)
    assert not claim(home, NOW + HOUR - MINUTE)
    (last,) = claim(home, NOW + HOUR).values()
    assert last
    assert last.finished_at == NOW

    settled(home, WRITTEN)
    settled(home, FAILED, failures=2, next_in=2 * MINUTE)
    assert home.admin.catalog.read(lambda tx: rounds.failing(tx, FAILED)) == 1
    home.vault("user:ann").memories.save("coffee")
    assert not claim(home, NOW + MINUTE / 2, name=WRITTEN)
    assert claim(home, NOW + MINUTE, name=WRITTEN)
    assert not claim(home, NOW + MINUTE, name=FAILED)
    assert claim(home, NOW + 2 * MINUTE, name=FAILED)

    settled(home, SET_BACK)
    assert claim(home, NOW - timedelta(days=300), name=SET_BACK)


def test_a_claimed_round_is_passed_by_until_its_lease_ends_and_then_the_first_server_stores_nothing(
    home: Recollectum,
) -> None:
    assert claim(home, NOW, "one")
    assert not claim(home, NOW, "two")
    assert not claim(home, NOW, "two", everything=True)
    # The claim alone is no run of the round.
    assert home.admin.catalog.read(rounds.everything) == []
    assert home.admin.catalog.claim(lambda tx: rounds.renew(tx, "one", NOW + 2 * MINUTE)) == 1
    assert not claim(home, NOW + MINUTE, "two")
    assert claim(home, NOW + 2 * MINUTE, "two")
    assert not finish(home, "one")
    assert home.admin.catalog.claim(lambda tx: rounds.renew(tx, "one", NOW + HOUR)) == 0
    home.admin.catalog.claim(lambda tx: rounds.release(tx, "two"))
    assert claim(home, NOW, "three")
    assert finish(home, "three")
    assert len(home.admin.catalog.read(rounds.everything)) == 1
    _the_round_of_the_home_is_claimed_once(home)


def _the_round_of_the_home_is_claimed_once(home: Recollectum) -> None:
    claims = home.admin.catalog.claim
    assert claims(lambda tx: rounds.claim_home(tx, wanted("one", NOW, HOME))) == (None,)
    assert claims(lambda tx: rounds.claim_home(tx, wanted("two", NOW, HOME))) is None
    row = RoundRow(name=HOME, vault=None, every_seconds=60, started_at=NOW, finished_at=NOW, next_at=NOW + HOUR)
    assert not claims(lambda tx: rounds.finish(tx, row, "two", {}))
    assert claims(lambda tx: rounds.finish(tx, row, "one", {}))
    assert claims(lambda tx: rounds.claim_home(tx, wanted("two", NOW + MINUTE, HOME))) is None
    found = claims(lambda tx: rounds.claim_home(tx, wanted("two", NOW + HOUR, HOME)))
    assert found
    assert found[0]
    assert found[0].next_at == NOW + HOUR


def test_a_server_that_ends_in_the_middle_of_a_round_releases_what_it_claimed(home: Recollectum) -> None:
    upkeep = UpkeepRuntime(
        admin=home.admin, settings=home.settings, open_vault=home.vault, stop=threading.Event(), settling=timedelta()
    )
    with upkeep.claiming(NAME, HOUR) as claims:
        (taken,) = claims.take(marks(home), ())
        assert not claim(home, claims.now(), "two", everything=True)
        upkeep.release_claims()
        (again,) = claim(home, claims.now(), "two", everything=True)
        assert again == taken.entry.id
        row = RoundRow(
            name=NAME, vault=again, every_seconds=60, started_at=NOW, finished_at=NOW, next_at=NOW + HOUR, counts={}
        )
        assert not claims.finish(row, marks(home))
    # The end of the block takes nothing from the other server.
    assert not claim(home, claims.now(), "three", everything=True)
