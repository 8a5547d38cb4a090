"""Several daemons on one PostgreSQL database, as processes: what is due is done once, also when one is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO

import pytest

from recollectum import Recollectum
from recollectum.domain.event import EventType
from tests.doors.server.daemons import PATIENCE_SECONDS, two_hours_ago, until
from tests.doors.server.serving_program import FACT
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import administer

pytestmark = pytest.mark.process
_PROGRAM = Path(__file__).with_name("serving_program.py")
#: More than one server claims at once, so that there is work for both.
PEOPLE = 20
_SHORT = {"daemon.lease_seconds": 1, "consolidation.lease_seconds": 1}
#: Longer than the test: only what is released can be taken over.
_LONG = {"daemon.lease_seconds": 3600, "consolidation.lease_seconds": 3600}
_CLAIMED = "SELECT count(*) FROM recollectum_catalog.rounds WHERE claim IS NOT NULL"
_FINISHED = """
    SELECT count(*) FROM recollectum_catalog.rounds
     WHERE name IN ('consolidation', 'retention') AND vault IS NOT NULL AND finished_at > 0
"""


class Server:
    """One daemon, and what it was asked."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout
        self._out: IO[str] = process.stdout

    def wait_for(self, line: str) -> None:
        """Wait until it prints a line."""
        assert self._out.readline() == f"{line}\n"

    def end(self, signal_number: int) -> list[str]:
        """End it by a signal, and return what else it printed."""
        self.process.send_signal(signal_number)
        said = self._out.read().splitlines()
        self.process.wait(PATIENCE_SECONDS)
        return said


class World:
    """Two homes with the same keys on one database, where each person has one conversation that is due."""

    def __init__(self, folder: Path, postgres: PostgresDatabase) -> None:
        self.folder = folder
        self.postgres = postgres
        with self.home(clock=two_hours_ago) as home:
            for number in range(PEOPLE):
                vault = home.vault(f"user:person{number}")
                vault.memories.save("the bus leaves at nine", ttl=timedelta(hours=1))
                chat = vault.sessions.open(channel="telegram")
                chat.add("user", f"{FACT}.")
                chat.add("assistant", "Noted.")
        shutil.copytree(folder / "one", folder / "two")

    def home(self, **options: object) -> Recollectum:
        settings = {"storage.url": self.postgres.url(), "storage.reserve_mib": 0, "encryption": "off"}
        return Recollectum(self.folder / "one", settings=settings, **options)  # pyright: ignore[reportArgumentType]

    @contextmanager
    def server(
        self, name: str, settings: dict[str, int], *, ahead: timedelta = timedelta(), answers: int = 1000
    ) -> Generator[Server]:
        given = {
            **settings,
            **{"storage.reserve_mib": 0, "encryption": "off", "embedding.provider": "none"},
            **{"daemon.consolidation_seconds": 0.2, "server.drain_seconds": 0},
        }
        line = [str(self.folder / name), self.postgres.url(), str(ahead.total_seconds()), str(answers)]
        with subprocess.Popen(
            [sys.executable, str(_PROGRAM), *line, json.dumps(given)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ},
        ) as process:
            try:
                server = Server(process)
                server.wait_for("started")
                yield server
            finally:
                process.kill()

    def facts(self) -> list[int]:
        """How many facts each person has; whatever happened to a memory happened once."""
        with self.home() as home:
            vaults = [home.vault(f"user:person{number}") for number in range(PEOPLE)]
            for vault in vaults:
                happened = Counter((one.type, one.subject_id) for one in vault.admin.events.list(limit=1000))
                assert set(happened.values()) == {1}
            return [sum(one.content == FACT for one in vault.memories.list()) for vault in vaults]

    def expired(self) -> int:
        """How many of the memories with a lifetime the life cycle has moved."""
        with self.home() as home:
            found = [home.vault(f"user:person{number}").admin.events.list(limit=1000) for number in range(PEOPLE)]
        return sum(one.type is EventType.DELETED and one.actor == "lifecycle" for events in found for one in events)

    def is_done(self) -> bool:
        """Whether both rounds were made in each vault; a claim alone is no run."""
        return administer(self.postgres, _FINISHED) == [(2 * PEOPLE,)]


@pytest.fixture
def world(tmp_path: Path, postgres: PostgresDatabase) -> World:
    return World(tmp_path, postgres)


@pytest.mark.feature("A8")
def test_two_daemons_with_clocks_an_hour_apart_do_everything_once(world: World) -> None:
    with world.server("one", _SHORT) as first, world.server("two", _SHORT, ahead=timedelta(hours=1)) as second:
        until(world.is_done)
        asked = [server.end(signal.SIGTERM).count("asked") for server in (first, second)]
        assert (first.process.returncode, second.process.returncode) == (0, 0)
    assert world.facts() == [1] * PEOPLE
    assert world.expired() == PEOPLE
    # Each conversation was read once, and each server found some of them.
    assert sum(asked) == PEOPLE
    assert min(asked) > 0


@pytest.mark.feature("A8")
def test_what_a_killed_daemon_was_reading_another_one_reads_once(world: World) -> None:
    with world.server("one", _SHORT, answers=2) as first:
        for _ in range(3):
            first.wait_for("asked")
        # In the middle of the third conversation, with a batch of vaults claimed.
        first.end(signal.SIGKILL)
    assert sorted(set(world.facts())) == [0, 1]
    with world.server("two", _SHORT) as second:
        # The lease of the third conversation may run out after the first round in its vault.
        until(lambda: world.is_done() and world.facts() == [1] * PEOPLE)
        assert second.end(signal.SIGTERM).count("asked") == PEOPLE - 2
    assert world.facts() == [1] * PEOPLE


def test_a_daemon_that_is_told_to_end_releases_its_leases_at_once(world: World) -> None:
    with world.server("one", _LONG) as first:
        first.wait_for("asked")
        asked = 1 + first.end(signal.SIGTERM).count("asked")
        assert first.process.returncode == 0
    assert asked < PEOPLE
    assert administer(world.postgres, _CLAIMED) == [(0,)]
    with world.server("two", _LONG) as second:
        until(world.is_done)
        assert second.end(signal.SIGTERM).count("asked") == PEOPLE - asked
    assert world.facts() == [1] * PEOPLE
