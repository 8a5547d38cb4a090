"""The sweep: what fell silent while nobody looked is read, once, and its session ended."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import ModelUnavailable
from recollectum.testing import ScriptedModel
from recollectum.upkeep.rounds.tasks import sweep
from recollectum.upkeep.rounds.timing import IdleTimer
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, quick_folder
from tests.vault.scripted_homes import echoing, finds, found, home_with

TEA = "I drink green tea every morning"
IDLE = timedelta(minutes=30)


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def say(vault: Vault, text: str = TEA) -> str:
    chat = vault.sessions.open(channel="telegram")
    chat.add("user", text)
    return chat.id


def contents(vault: Vault) -> list[str]:
    return [memory.content for memory in vault.memories.list()]


@pytest.mark.feature("A8")
def test_what_idled_while_the_program_was_off_is_read_at_the_next_start(place: Path) -> None:
    clock = Turning()
    with home_with(place, clock, echoing(TEA)) as home:
        session = say(home.vault("user:alice"))
    clock.turn(IDLE)
    with home_with(place, clock, echoing(TEA)) as home:
        vault = home.vault("user:alice")
        swept = sweep(vault)
        assert (swept.idle, len(swept.outcomes), swept.ended) == (1, 1, 1)
        assert contents(vault) == [TEA]
        assert vault.sessions.open(channel="telegram").id != session
        again = sweep(vault)
        assert (again.idle, again.outcomes, again.ended) == (0, (), 0)
        assert contents(vault) == [TEA]


@pytest.mark.feature("A7")
def test_a_conversation_that_goes_on_is_left_alone(place: Path) -> None:
    clock = Turning()
    with home_with(place, clock, echoing(TEA)) as home:
        vault = home.vault("user:alice")
        session = say(vault)
        clock.turn(IDLE - timedelta(seconds=1))
        assert sweep(vault).idle == 0
        say(vault, "And another thing.")
        clock.turn(IDLE - timedelta(seconds=1))
        assert sweep(vault).idle == 0
        clock.turn(timedelta(seconds=1))
        assert sweep(vault).idle == 1
        (run,) = vault.admin.consolidation.list_runs(session_id=session)
        assert run.through_position == 2


def test_a_clean_slate_and_the_idle_time_are_settings(place: Path) -> None:
    clock = Turning()
    settings = {"consolidation.clean_slate": "off", "consolidation.idle_minutes": 5}
    with home_with(place, clock, echoing(TEA), settings) as home:
        vault = home.vault("user:alice")
        session = say(vault)
        clock.turn(timedelta(minutes=5))
        assert sweep(vault).ended == 0
        assert contents(vault) == [TEA]
        assert vault.sessions.open(channel="telegram").id == session


def test_never_is_never(place: Path) -> None:
    clock = Turning()
    with home_with(place, clock, echoing(TEA), {"consolidation.idle_minutes": 0}) as home:
        vault = home.vault("user:alice")
        say(vault)
        clock.turn(timedelta(days=1))
        swept = sweep(vault)
        assert (swept.idle, swept.ended) == (0, 0)


def test_a_session_that_could_not_be_read_stays_open(place: Path) -> None:
    clock = Turning()
    model = ScriptedModel([ModelUnavailable("the model is away"), finds(found(TEA, TEA))])
    with home_with(place, clock, model) as home:
        vault = home.vault("user:alice")
        say(vault)
        clock.turn(IDLE)
        swept = sweep(vault)
        assert (swept.troubles, swept.ended) == (("the model is away",), 0)
        clock.turn(timedelta(minutes=2))
        assert sweep(vault).ended == 1
        assert contents(vault) == [TEA]


@pytest.mark.feature("A7")
def test_the_timer_is_armed_anew_by_each_turn(place: Path) -> None:
    clock = Turning()
    with home_with(place, clock, echoing(TEA)) as home:
        vault = home.vault("user:alice")
        timer = IdleTimer(IDLE, lambda: sweep(vault), clock)
        assert timer.next_due() is None
        session = say(vault)
        timer.turn(session)
        clock.turn(timedelta(minutes=29))
        assert timer.tick() == []
        say(vault, "Still here.")
        timer.turn(session)
        clock.turn(timedelta(minutes=29))
        assert timer.tick() == []
        assert timer.next_due() == clock.now + timedelta(minutes=1)
        clock.turn(timedelta(minutes=1))
        assert timer.tick() == [session]
        assert contents(vault) == [TEA]
        assert timer.tick() == []


def test_a_session_that_is_stopped_is_watched_no_longer() -> None:
    clock = Turning()
    swept: list[str] = []
    timer = IdleTimer(IDLE, lambda: swept.append("swept"), clock)
    timer.turn("ses_1")
    timer.stop("ses_1")
    clock.turn(IDLE)
    assert timer.tick() == swept == []
