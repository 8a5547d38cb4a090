"""A process killed during a purge, a consolidation or an upgrade: the next one goes on, and nothing is half done.

`FAULTS_EVERY` is the distance of the steps at which it is killed, 1 for each.
"""

import os
import shutil
import signal
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.storage.postgres.migrate import pending, shipped, upgrade
from recollectum.vault.purge.request import PurgeState
from tests.crashes.consolidating_program import LATER, consolidate, prepare, shown_wrong
from tests.crashes.programs import start
from tests.matrix.homes import START, Turning, open_home
from tests.plugins.postgres import PostgresDatabase, change_rows, database_on
from tests.storage.postgres.engines import administer
from tests.storage.postgres.faults.dying_program import OWNER

pytestmark = pytest.mark.slow

EVERY = int(os.environ.get("FAULTS_EVERY", "9"))
_SECRET, _KEPT = "wqzkvbtrnx", "mnbvcxzqwr"


def _killed(*arguments: str) -> bool:
    """Run the program to its end; whether it was killed before."""
    child = start("tests.storage.postgres.faults.dying_program", *arguments)
    code = child.wait()
    for stream in (child.stdin, child.stdout):
        assert stream is not None
        stream.close()
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("kind", ["session", "user"])
def test_a_purge_that_is_killed_has_not_begun_or_is_finished_by_the_next_process(
    postgres: PostgresDatabase, tmp_path: Path, kind: str
) -> None:
    made = tmp_path / "made"
    with Recollectum(made, settings={"storage.url": postgres.url()}) as home:
        vault = home.vault(OWNER)
        for channel, word in (("work", _KEPT), ("home", _SECRET)):
            chat = vault.sessions.open(channel=channel, agent=channel)
            for number in range(5):
                chat.add("user", f"turn {number} says {word}{number}")
    version = postgres.server.version
    outcomes: list[bool] = []
    # From the second write on: before the first one a purge has not begun.
    for step in range(1, 80, EVERY):
        place = tmp_path / f"killed{step}"
        shutil.copytree(made, place)
        with database_on(version, postgres) as copy:
            was_killed = _killed("purge", str(place), copy.url(), kind, str(step))
            outcomes.append(_is_gone(place, copy, kind))
        if not was_killed:
            break
    else:
        pytest.fail("the purge did not come to its end")
    assert outcomes == sorted(outcomes), "from the first note on there is no way back"
    assert outcomes[-1]
    assert len(outcomes) > 1


def _is_gone(place: Path, database: PostgresDatabase, kind: str) -> bool:
    """Open the home, which goes on with a purge; whether the erased is gone, and then all of it."""
    with Recollectum(place, settings={"storage.url": database.url()}) as home:
        if kind == "user" and not home.list_owners():
            assert home.receipts.list()[-1].state is PurgeState.DONE
            assert home.people.list() == []
            assert administer(database, "SELECT count(*) FROM recollectum.messages") == [(0,)]
            return True
        vault = home.vault(OWNER)
        held = vault.admin.totals().messages
        assert vault.admin.index.verify().sound
        assert held in (5, 10)
        assert bool(vault.recall(f"{_SECRET}3")) == (held == 10)
        assert vault.recall(f"{_KEPT}3")
        if held == 5:
            assert vault.privacy.purge.list_receipts()[-1].state is PurgeState.DONE
            assert administer(database, "SELECT count(*) FROM recollectum.messages") == [(5,)]
        return held == 5


def test_a_consolidation_that_is_killed_neither_loses_nor_doubles_a_fact(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    prepare(made, {"storage.url": postgres.url()})
    killed: list[bool] = []
    for step in range(0, 80, EVERY // 2 or 1):
        place = tmp_path / f"killed{step}"
        shutil.copytree(made, place)
        with database_on(postgres.server.version, postgres) as copy:
            killed.append(_killed("consolidate", str(place), copy.url(), str(step)))
            # The server's clock decides about a lease, and nobody waits for minutes here.
            change_rows(copy, ["UPDATE jobs SET lease_until = 0 WHERE state = 'claimed'"])
            settings = {"storage.url": copy.url()}
            consolidate(place, 2 * LATER, settings=settings)
            with open_home(place, Turning(START + 3 * LATER), settings=settings) as home:
                assert shown_wrong(home.vault("user:alice")) == [], step
            cited = administer(copy, "SELECT count(*) FROM recollectum.citations")
            assert cited == [(3,)], step
        if not killed[-1]:
            break
    assert sum(killed) > 1
    assert not killed[-1], "the consolidation did not come to its end"


def test_an_upgrade_that_is_killed_leaves_whole_steps_and_is_finished_by_the_next(postgres: PostgresDatabase) -> None:
    every = shipped()
    lefts: list[int] = []
    # The whole schema takes about a dozen statements a step.
    for step in range(1, 200, 2 * EVERY):
        for schema in ("recollectum", "recollectum_catalog"):
            administer(postgres, f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        was_killed = _killed("upgrade", postgres.migrator_url, str(step))
        with psycopg.connect(postgres.migrator_url, autocommit=True) as connection:
            left = pending(connection)
            assert left == every[len(every) - len(left) :], "steps were left out"
            lefts.append(len(left))
            assert upgrade(connection, clock=system_clock) == left
            assert pending(connection) == ()
        if not was_killed:
            break
    else:
        pytest.fail("the upgrade did not come to its end")
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[0] == len(every)
    assert lefts[-1] == 0
