"""A home whose making is cut short anywhere is finished by the next start, and keeps what was promised."""

from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.crashes.programs import run

pytestmark = [pytest.mark.process, pytest.mark.slow]

_KILLS = 50


def test_a_home_whose_making_was_killed_works_at_the_next_start(tmp_path: Path) -> None:
    run("tests.faults.founding_program", str(tmp_path), str(_KILLS), "20261115")
    reached: set[int] = set()
    for place in sorted(tmp_path.glob("killed-*")):
        told = (place / "told").read_text().splitlines() if (place / "told").exists() else []
        reached.add(len(told))
        with Recollectum(place / "home") as r:
            assert told[1:2] != ["vault"] or [str(owner) for owner in r.list_owners()] == ["user:ann"]
            vault = r.vault("user:ann")
            assert {memory.id for memory in vault.memories.list()} >= set(told[2:])
            vault.memories.save("and now it works")
            assert vault.recall("works")
            assert vault.admin.index.verify().sound
    # Some were killed before the first answer and some after the vault's, or the kills would show nothing.
    assert 0 in reached
    assert max(reached) >= 2
