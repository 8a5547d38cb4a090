"""What happens beside a chat: the start-up sweep, the idle timer, and an end that waits for nobody."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from recollectum import Recollectum
from recollectum.doors.cli.chat.upkeep import ChatUpkeep
from recollectum.vault.vault import Vault
from tests.doors.cli.chat.agents import PLAIN

_PATIENCE_S = 30


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def tell(vault: Vault, channel: str, text: str = "I am allergic to peanuts.") -> str:
    return vault.sessions.open(channel=channel).add("user", text).session_id


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.feature("A18")
def test_the_start_up_sweep_reads_what_fell_silent_while_nobody_looked() -> None:
    clock = Hands()
    with Recollectum(settings=PLAIN, clock=clock) as recollectum:
        vault = recollectum.vault("user:ada")
        session_id = tell(vault, "signal")
        clock.now += timedelta(minutes=31)
        tell(vault, "matrix", "I live in Lisbon.")
        upkeep = ChatUpkeep(vault, 30, clock)
        upkeep.start()
        wait_until(lambda: bool(vault.admin.consolidation.list_runs()))
        assert upkeep.stop()
        (run,) = vault.admin.consolidation.list_runs()
        assert run.session_id == session_id
        assert len(vault.admin.review.list()) == 1


@pytest.mark.feature("P5")
def test_a_conversation_that_grew_long_is_summarised_beside_the_talk() -> None:
    clock = Hands()
    with Recollectum(settings=PLAIN, clock=clock) as recollectum:
        vault = recollectum.vault("user:ada")
        chat = vault.sessions.open()
        for number in range(40):
            chat.add("user", f"I decided on plan {number}. " + "It was discussed at length and for a good while. " * 25)
        upkeep = ChatUpkeep(vault, 30, clock)
        upkeep.start()
        upkeep.turn(chat.id)
        wait_until(lambda: vault.sessions.summaries.find(chat.id) is not None)
        assert upkeep.stop()
        summary = vault.sessions.summaries.find(chat.id)
        assert summary is not None
        assert (summary.by, summary.up_to) == ("rules", 30)


@pytest.mark.feature("A18")
def test_a_turn_arms_the_timer_and_silence_has_the_conversation_read() -> None:
    clock = Hands()
    with Recollectum(settings=PLAIN, clock=clock) as recollectum:
        vault = recollectum.vault("user:ada")
        upkeep = ChatUpkeep(vault, 30, clock)
        upkeep.start()
        first = tell(vault, "signal")
        upkeep.turn(first)
        clock.now += timedelta(minutes=29)
        upkeep.turn(first)
        clock.now += timedelta(minutes=29)
        assert upkeep.timer.tick() == []
        clock.now += timedelta(minutes=2)
        # Another conversation wakes the thread, which sees that the first has fallen silent.
        upkeep.turn(tell(vault, "matrix"))
        wait_until(lambda: bool(vault.admin.consolidation.list_runs()))
        assert upkeep.stop()
        assert [run.session_id for run in vault.admin.consolidation.list_runs()] == [first]


def test_where_the_settings_want_no_reading_there_is_none() -> None:
    clock = Hands()
    with Recollectum(settings={**PLAIN, "consolidation.idle_minutes": 0}, clock=clock) as recollectum:
        vault = recollectum.vault("user:ada")
        session_id = tell(vault, "signal")
        clock.now += timedelta(days=1)
        upkeep = ChatUpkeep(vault, 0, clock)
        upkeep.start()
        upkeep.turn(session_id)
        upkeep.sweep()
        assert upkeep.stop()
        assert vault.admin.consolidation.list_runs() == []


def test_a_sweep_is_bounded_and_says_why_something_waits() -> None:
    clock = Hands()
    settings = {**PLAIN, "language_model.provider": "scripted", "language_model.tokens_per_day": 1}
    with Recollectum(settings=settings, clock=clock) as recollectum:
        vault = recollectum.vault("user:ada")
        for channel in ("signal", "matrix", "telegram"):
            tell(vault, channel)
        clock.now += timedelta(minutes=31)
        upkeep = ChatUpkeep(vault, 30, clock)
        upkeep.sweep(2)
        assert len(vault.admin.consolidation.list_jobs(state="waiting")) == 3
        assert "tokens_per_day is 1" in (upkeep.take_trouble() or "")
        assert upkeep.take_trouble() is None
        assert upkeep.stop()
