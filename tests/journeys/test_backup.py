"""Journey 6: the machine is lost with its key, and a backup and the code on paper bring everything back."""

import shlex
from pathlib import Path

import pytest

from tests.journeys.conftest import Begun
from tests.journeys.machines import SEMANTIC, Machine

pytestmark = pytest.mark.process


def test_a_backup_and_the_code_bring_everything_back(begun: Begun, other_machine: Machine, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    begun.machine.does("recollectum remember My blood type is O negative --key blood_type")
    made = begun.machine.does(f"recollectum backup --to {shlex.quote(str(stick))}")
    assert "test restore passed" in made
    (backup,) = stick.iterdir()
    # The folder in which it lies is named by mistake.
    inside = other_machine.types(f"recollectum restore {shlex.quote(str(stick))}")
    assert (inside.code, backup.name in inside.err) == (1, True)
    restore = f"recollectum restore {shlex.quote(str(backup))} --recovery-code"
    wrong = other_machine.types(restore, stdin="AAAA-BBBB\n")
    assert wrong.code == 1
    assert len(wrong.err.splitlines()) == 1
    assert not (other_machine.home / "catalog.db").exists()
    assert "1 vault restored" in other_machine.does(restore, stdin=f"{begun.code}\n")
    assert "O negative" in other_machine.does("recollectum recall blood type")
    told = other_machine.types("recollectum doctor")
    assert (told.code, "search: semantic" in told.out) == (0, SEMANTIC)
