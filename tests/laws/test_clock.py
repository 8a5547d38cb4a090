"""Laws of the clock: believed time never goes back, and no jump deletes or resurrects."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.domain.errors import RecollectumError
from recollectum.policy.clock import TRIAL, ClockState, accept, observe
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, copy_home, let_expire, open_home, quick_folder, walk

pytestmark = pytest.mark.slow

LEAP = timedelta(days=45)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
DECADE = timedelta(days=3650)
OWNER = "user:alice"
WALLS = st.lists(st.integers(-5000, 5000).map(lambda days: START + days * DAY), min_size=1, max_size=20)
STEPS = st.lists(st.integers(0, 45).map(lambda days: days * DAY), min_size=1, max_size=20)


@given(WALLS)
def test_believed_time_never_goes_back(walls: list[datetime]) -> None:
    state = ClockState(floor=START)
    believed = START
    for wall in walls:
        state, reading = observe(state, wall, LEAP)
        assert reading.policy_now == state.floor >= believed
        assert reading.now >= reading.policy_now
        assert reading.held == (reading.now > state.floor)
        believed = state.floor


@given(STEPS)
def test_steps_up_to_the_setting_are_believed_at_once(steps: list[timedelta]) -> None:
    state, wall = ClockState(floor=START), START
    for step in steps:
        wall += step
        state, reading = observe(state, wall, LEAP)
        assert not reading.held
        assert reading.now == wall


@given(st.integers(46, 5000), STEPS)
def test_a_leap_is_believed_when_it_has_run_on_for_a_week(leap: int, steps: list[timedelta]) -> None:
    wall = began = START + leap * DAY
    state, reading = observe(ClockState(floor=START), wall, LEAP)
    assert reading.held
    for step in steps:
        wall += step
        state, reading = observe(state, wall, LEAP)
        assert reading.held == (wall - began < TRIAL)
    wall += TRIAL
    state, reading = observe(state, wall, LEAP)
    assert not reading.held
    assert observe(state, wall + DAY, LEAP)[1].now == wall + DAY


@given(st.integers(46, 5000), st.integers(0, 45))
def test_a_leap_is_believed_when_a_person_says_so(leap: int, days: int) -> None:
    wall = START + leap * DAY
    state, _ = observe(ClockState(floor=START), wall, LEAP)
    state, reading = observe(accept(state, wall), wall + days * DAY, LEAP)
    assert not reading.held
    assert reading.now == wall + days * DAY


@given(st.integers(46, 5000), st.integers(0, 5000))
def test_a_leap_that_is_taken_back_leaves_no_trace(leap: int, back: int) -> None:
    state, _ = observe(ClockState(floor=START), START + leap * DAY, LEAP)
    state, reading = observe(state, START - back * DAY, LEAP)
    assert state == ClockState(floor=START)
    assert reading.now == START


@contextmanager
def living() -> Generator[Path]:
    """Make a home with something in every state, one thing of which has expired and was seen to."""
    clock = Turning(START - 10 * HOUR)
    with quick_folder() as folder:
        with open_home(folder / "home", clock) as home:
            let_expire(home)
            vault = home.vault(OWNER)
            vault.memories.save("bystander expired", key="expired", ttl=HOUR)
            vault.memories.save("bystander plain", key="plain")
            vault.memories.save("bystander with a deadline", key="deadline", ttl=30 * DAY)
            vault.memories.move(vault.memories.save("bystander archived", key="archived").id, "archived")
            vault.memories.forget(vault.memories.save("bystander deleted", key="deleted").id)
            vault.sessions.open(hook="bystander").add("user", "bystander in a hook")
            clock.turn(10 * HOUR)
            assert vault.admin.lifecycle.run().deleted == 1
        yield folder / "home"


@pytest.fixture(scope="module")
def lived_in() -> Iterator[Path]:
    """A home with something in every state."""
    with living() as folder:
        yield folder


def _bystanders(vault: Vault) -> list[tuple[str, str]]:
    """What was there before, as it is served now."""
    states = ("active", "archived", "soft_deleted")
    found = [(state, memory.key or "") for state in states for memory in vault.memories.list(state=state)]
    kept = [one for one in found if one[1] in ("plain", "deadline", "archived", "deleted", "expired")]
    hits = [("hit", hit.text) for hit in vault.recall("bystander", limit=100)]
    return sorted(kept + hits)


def _change(vault: Vault) -> None:
    memory = vault.memories.save("newcomer", ttl=HOUR).memory
    vault.memories.edit(memory.id, "newcomer two")
    vault.memories.forget(vault.memories.supersede(memory.id, "newcomer three").id)


def _talk(vault: Vault) -> None:
    vault.sessions.open(channel="x").add("user", "newcomer")
    vault.sessions.open(hook="newcomer").add("user", "newcomer")


ACTIONS: dict[str, Callable[[Vault], object]] = {
    "sweep": lambda vault: vault.admin.lifecycle.run(),
    "preview": lambda vault: vault.admin.lifecycle.preview(),
    "recall": lambda vault: vault.recall("bystander"),
    "context": lambda vault: vault.context("bystander"),
    "pages": _bystanders,
    "find": lambda vault: vault.memories.find("deadline"),
    "save": lambda vault: vault.memories.save("bystander plain"),
    "as_of": lambda vault: vault.memories.as_of(START),
    "change": _change,
    "talk": _talk,
    "rebuild": lambda vault: vault.admin.index.rebuild(),
    "events": lambda vault: vault.admin.events.list(),
}


@given(
    years=st.sampled_from([-10, 10]),
    actions=st.lists(st.sampled_from([*ACTIONS, "reopen"]), max_size=8),
    jumps=st.integers(1, 3),
)
@settings(max_examples=60)
@pytest.mark.feature("M5")
def test_a_jump_of_ten_years_deletes_nothing_and_resurrects_nothing(
    lived_in: Path, years: int, actions: list[str], jumps: int
) -> None:
    clock = Turning()
    with quick_folder() as folder:
        copy = copy_home(lived_in, folder / "it")
        home = open_home(copy, clock)
        before = _bystanders(home.vault(OWNER))
        for _ in range(jumps):
            clock.turn(years * 365 * DAY)
            for action in [*actions, "sweep"]:
                if action == "reopen":
                    home.close()
                    home = open_home(copy, clock)
                    continue
                _attempt(ACTIONS[action], home.vault(OWNER))
                assert home.vault(OWNER).memories.find("expired") is None
                assert not home.vault(OWNER).admin.lifecycle.run().any()
            clock.now = START
        assert _bystanders(home.vault(OWNER)) == before
        home.close()


def _attempt(action: Callable[[Vault], object], vault: Vault) -> None:
    try:
        action(vault)
    except RecollectumError:
        # A newcomer with a deadline is past it as soon as the clock leaps again.
        return


@pytest.mark.feature("M2")
@pytest.mark.parametrize("how", ["accepted", "proven"])
def test_a_time_that_is_believed_goes_on_ageing(lived_in: Path, tmp_path: Path, how: str) -> None:
    clock = Turning()
    with open_home(copy_home(lived_in, tmp_path / "it"), clock) as home:
        vault = home.vault(OWNER)
        vault.admin.totals()
        clock.turn(DECADE)
        assert vault.admin.lifecycle.run().held_since is not None
        if how == "accepted":
            assert vault.admin.lifecycle.accept_clock() == START
            # A person has said so; the next sweep moves what ten years have made due.
        else:
            walk(home, clock, clock.now + TRIAL, OWNER)
        assert vault.admin.lifecycle.run().any()
        assert not vault.recall("bystander", source="memories")
        clock.turn(91 * DAY)
        assert vault.admin.lifecycle.run().held_since is not None, "a second leap is a new one"


def test_a_vault_left_alone_for_less_than_the_setting_is_swept(lived_in: Path, tmp_path: Path) -> None:
    clock = Turning()
    with open_home(copy_home(lived_in, tmp_path / "it"), clock) as home:
        home.vault(OWNER).admin.totals()
        clock.turn(44 * DAY)
        report = home.vault(OWNER).admin.lifecycle.run()
        assert report.held_since is None
        assert report.deleted == 1
        assert report.purged == 2
