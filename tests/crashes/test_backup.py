"""Backups under a storm of writes restore and are right; one that is killed leaves nothing that looks like one."""

import random
import time
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.upkeep.backup.backup import UNFINISHED, back_up
from tests.crashes.programs import hear, kill, start
from tests.crashes.storming import storm
from tests.upkeep.homes import fill

pytestmark = pytest.mark.process


def test_every_backup_under_a_storm_of_writes_restores_and_is_right(tmp_path: Path) -> None:
    result = storm(tmp_path, backups=3)
    print(result.line())
    assert result.wrong == []
    assert (result.backups, result.meanwhile > 0, result.acknowledged > 0) == (3, True, True)


@pytest.mark.parametrize("seed", range(6))
def test_a_backup_that_is_killed_leaves_none_and_the_next_one_clears_up(tmp_path: Path, seed: int) -> None:
    home, stick = tmp_path / "home", tmp_path / "stick"
    with Recollectum(home) as r:
        fill(r.vault("user:ann"), 100)
    program = start("tests.crashes.backing_up_program", str(home), str(stick))
    assert hear(program) == "begun"
    time.sleep(random.Random(seed).uniform(0, 0.12))
    made = [line for line in kill(program) if line]
    left = list(stick.iterdir()) if stick.exists() else []
    whole = [path for path in left if UNFINISHED not in path.name]
    # At most the one that got its name and could not be told of any more.
    assert len(whole) - len(made) in (0, 1)
    with Recollectum(home) as r:
        assert r.vault("user:ann").admin.index.verify().sound
        last = back_up(r.admin, to=stick)
    assert {path.name for path in stick.iterdir()} == {path.name for path in (*whole, last.path)}
