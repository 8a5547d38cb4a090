"""Lists of sessions in memory: not read twice while nothing changes, and never old."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from recollectum.domain.session import Session, SessionKey
from recollectum.vault.open_vaults import SessionCache
from tests.crashes.programs import finish, start
from tests.matrix.homes import START, Turning, open_home

pytestmark = pytest.mark.process

_LISTING = "FROM sessions\n     WHERE id < :before AND NOT"


@contextmanager
def counted() -> Generator[list[str]]:
    """The listings that SQLite itself runs on connections that are opened meanwhile."""
    run: list[str] = []

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        if _LISTING in sql:
            run.append("listing")
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        yield run
    finally:
        apsw.connection_hooks.remove(hook)


@pytest.mark.feature("G21")
@pytest.mark.parametrize(("seconds", "listings"), [(45, 1), (0, 5)])
def test_a_list_is_read_once_while_nothing_changes(place: Path, clock: Turning, seconds: int, listings: int) -> None:
    with counted() as run, open_home(place, clock, settings={"sessions.cache_seconds": seconds}) as home:
        vault = home.vault("user:alice")
        vault.sessions.open(channel="telegram")
        lists = [home.vault("user:alice").sessions.list() for _ in range(5)]
        assert len(run) == listings
        assert all(one == lists[0] and len(one) == 1 for one in lists)
        lists[0].clear()
        assert len(vault.sessions.list()) == 1


@pytest.mark.feature("G21")
def test_no_change_of_this_process_is_missed(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as home:
        here, there = home.vault("user:alice").sessions, home.vault("user:alice").sessions
        chat = here.open(channel="telegram")
        assert [one.message_count for one in there.list()] == [0]
        chat.add("user", "hello")
        assert [one.message_count for one in there.list()] == [1]
        # At the very same time by the vault's clock.
        chat.describe(title="first")
        assert [one.title for one in there.list()] == ["first"]
        here.open(channel="signal")
        assert len(there.list()) == 2
        here.delete(chat.id)
        assert [one.key.channel for one in there.list()] == ["signal"]


@pytest.mark.feature("G21")
def test_a_change_of_another_process_is_seen_at_once(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as home:
        sessions = home.vault("user:alice").sessions
        chat = sessions.open(channel="telegram")
        assert len(sessions.list()) == len(sessions.list()) == 1
        finish(start("tests.vault.session_program", str(place), "begin", "elsewhere"))
        assert {one.key.channel for one in sessions.list()} == {"elsewhere", "telegram"}
        finish(start("tests.vault.session_program", str(place), "delete", chat.id))
        assert [one.key.channel for one in sessions.list()] == ["elsewhere"]


def test_what_was_destroyed_is_not_even_in_memory() -> None:
    cache = SessionCache()
    session = Session(id="ses_1", key=SessionKey(), created_at=START, updated_at=START)
    cache.find("asked", 1, 45, lambda: [session])
    assert len(cache) == 1
    cache.clear()
    assert len(cache) == 0


def test_a_list_is_dropped_after_its_time_and_when_there_are_many() -> None:
    now = [0.0]
    cache = SessionCache(lambda: now[0])
    session = Session(id="ses_1", key=SessionKey(), created_at=START, updated_at=START)
    other = replace(session, title="other")
    assert cache.find("asked", 1, 45, lambda: [session]) == [session]
    now[0] = 44.9
    assert cache.find("asked", 1, 45, lambda: [other]) == [session]
    assert cache.find("asked", 2, 45, lambda: [other]) == [other]
    now[0] = 90
    cache.find("another", 2, 45, list)
    assert len(cache) == 1
    for number in range(100):
        cache.find(number, 2, 45, list)
    assert len(cache) == 16
