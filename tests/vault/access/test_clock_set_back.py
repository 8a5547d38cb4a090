"""A clock that is set back revives no key, no token and no link."""

from datetime import timedelta
from pathlib import Path

import pytest

from bench.clock import revivals
from recollectum.domain.errors import Conflict, Denied
from recollectum.domain.ids import SteadyClock
from recollectum.vault.purge.request import PurgeRequest
from tests.matrix.homes import START, Turning, open_home

pytestmark = pytest.mark.process


@pytest.mark.parametrize("days", [1 / 86400, 1 / 24, 3650])
def test_nothing_that_ended_works_again_after_a_step_back(tmp_path: Path, days: float) -> None:
    assert [name for name, back in revivals(tmp_path, timedelta(days=days)) if back] == []


def test_a_key_that_was_revoked_is_listed_as_revoked_for_good(tmp_path: Path) -> None:
    clock = Turning()
    with open_home(tmp_path, clock) as home:
        home.people.add("user:alice")
        revoked, _ = home.keys.add("user:alice")
        graced, _ = home.keys.add("user:alice")
        home.keys.revoke(revoked.id)
        home.keys.rotate(graced.id, grace=timedelta(hours=1))
        ends = {key.id: (key.revoked, key.revoked_at) for key in home.keys.list()}
        assert ends[revoked.id] == (True, START)
        assert ends[graced.id] == (False, START + timedelta(hours=1))


def test_a_grace_period_lasts_as_long_as_it_says_after_a_step_back(tmp_path: Path) -> None:
    clock = Turning()
    with open_home(tmp_path, clock) as home:
        home.people.add("user:alice")
        clock.turn(timedelta(days=-1))
        key, secret = home.keys.add("user:alice")
        home.keys.rotate(key.id, grace=timedelta(hours=1))
        home.login(secret)
        clock.turn(timedelta(days=1, hours=2))
        with pytest.raises(Denied):
            home.login(secret)


def test_a_preview_that_the_clock_left_behind_must_be_made_again(tmp_path: Path) -> None:
    clock = Turning()
    with open_home(tmp_path, clock) as home:
        privacy = home.vault("user:alice").privacy
        memory = home.vault("user:alice").memories.save("the harbour closes at nine").memory
        token = privacy.purge.preview(PurgeRequest.memories(memory.id)).token
        clock.turn(timedelta(hours=-1))
        with pytest.raises(Conflict, match="too old"):
            privacy.purge.run(token)
        assert privacy.purge.run(privacy.purge.preview(PurgeRequest.memories(memory.id)).token).state == "done"


def test_a_steady_clock_goes_on_by_what_has_elapsed_when_the_wall_clock_is_set_back() -> None:
    wall, elapsed = Turning(), [0.0]
    steady = SteadyClock(wall, lambda: elapsed[0])
    assert steady() == START
    elapsed[0] = 3600.0
    # Nobody looked at the clock while it was right.
    wall.turn(timedelta(minutes=-10))
    assert steady() == START + timedelta(hours=1)
    elapsed[0] += 60
    assert steady() == START + timedelta(hours=1, minutes=1)
    wall.now = START + timedelta(days=1)
    assert steady() == START + timedelta(days=1)
