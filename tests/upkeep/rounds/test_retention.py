"""Retention: 90, 60 and 7 days as a tenant or a memory may change them, and nothing destroyed silently."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.memory import State
from recollectum.storage.tables.trail.sweeps import SweepState
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def fates(clock: Turning, vault: Vault, days: int) -> dict[int, State]:
    """The day on which each state of one memory begins, with a sweep every six hours."""
    found: dict[int, State] = {}
    for quarter in range(days * 4):
        vault.privacy.trash.sweep()
        for state in vault.admin.totals().memories or {State.PURGED: 0}:
            if state not in found.values():
                found[quarter // 4] = state
        clock.turn(6 * HOUR)
    return found


@pytest.mark.feature("M2")
@pytest.mark.feature("P6")
def test_ninety_days_then_sixty_then_seven_and_the_last_step_asks(place: Path) -> None:
    clock = Turning()
    with open_home(place, clock) as home:
        home.people.save_tenant("acme", {})
        home.people.add("user:alice", tenant="acme")
        vault = home.vault("user:alice")
        vault.memories.save("ages")
        assert fates(clock, vault, 160) == {
            0: State.ACTIVE,
            90: State.ARCHIVED,
            150: State.SOFT_DELETED,
            157: State.HARD_DELETE_PENDING,
        }
        assert vault.privacy.trash.sweep().state is SweepState.NEEDS_CONFIRMATION
        assert vault.privacy.trash.sweep(agreed=True).purged == 1
        assert vault.admin.totals().memories == {}


@pytest.mark.feature("M2")
def test_a_tenant_and_a_memory_have_periods_of_their_own(place: Path) -> None:
    clock = Turning()
    with open_home(place, clock) as home:
        home.people.save_tenant("acme", {"active": 10, "archive": 5, "grace": 3})
        home.people.add("user:bob", tenant="acme")
        vault = home.vault("user:bob")
        vault.memories.save("ages")
        assert fates(clock, vault, 17) == {0: State.ACTIVE, 10: State.ARCHIVED, 15: State.SOFT_DELETED}
        other = home.vault("user:alice")
        other.memories.save("short", ttl=2 * DAY)
        assert fates(clock, other, 5) == {0: State.ACTIVE, 2: State.SOFT_DELETED}
