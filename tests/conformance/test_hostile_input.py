"""Hostile values in every argument: SQLite and PostgreSQL return the same or raise the same error.

`HOSTILE_EVERY` is the distance of the values that are tried in each argument, 1 for all of them; a NUL and half a
character are always tried.
"""

import os
import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import IdMaker, system_clock
from tests.conformance.hostile_input import MARK, STEP, Attempt, World, attempts
from tests.matrix.homes import Turning, open_home
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import CuttingProxy, proxied
from tests.storage.postgres.sent_statements import foreign_statements

pytestmark = pytest.mark.slow

EVERY = int(os.environ.get("HOSTILE_EVERY", "7"))
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
#: What is random, or names the place of a home.
_OWN = re.compile(r"rk_\w+|digest='\w+'")


def _no_chance(_: int) -> int:
    return 0


@contextmanager
def _worlds(database: PostgresDatabase, folder: Path) -> Generator[tuple[list[World], Turning, CuttingProxy]]:
    """The same home on SQLite and on a server, with the same ids."""
    clock = Turning()
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(IdMaker.__init__, "__defaults__", (system_clock, _no_chance))
        proxy, url = stack.enter_context(proxied(database))
        homes = [
            stack.enter_context(open_home(folder / name, clock, settings=settings))
            for name, settings in (("files", {}), ("server", {"storage.url": url, "encryption": "auto"}))
        ]
        yield [World.made(home) for home in homes], clock, proxy


def _outcome(attempt: Attempt, world: World) -> tuple[str, str]:
    """What a call returned, or the kind of error that it raised; an error that nobody worded fails the test."""
    try:
        found = repr(attempt.call(world))
    except RecollectumError as error:
        return type(error).__name__, ""
    shown = found.replace(str(world.home.home.root.parent), "")
    return "returned", _OWN.sub("", _ADDRESS.sub("", shown))


def test_both_engines_answer_hostile_values_alike(postgres: PostgresDatabase, tmp_path: Path) -> None:
    differ: list[str] = []
    with _worlds(postgres, tmp_path) as (worlds, clock, proxy):
        tried = 0
        for attempt in attempts(worlds[0], EVERY):
            clock.turn(STEP)
            tried += 1
            files, server = (_outcome(attempt, world) for world in worlds)
            if files != server:
                differ.append(f"{attempt.name}: {files[0]} {files[1][:200]} / {server[0]} {server[1][:200]}")
        sent = frozenset(proxy.statements)
    assert tried > 500
    assert not differ, "\n".join(differ)
    assert not (foreign := foreign_statements(sent)), "\n".join(sorted(foreign))
    assert not [one for one in sent if MARK in one]
    assert len(sent) > 100
