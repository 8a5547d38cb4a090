"""A backup that finds no room, or may not write, leaves nothing half, and what was there stays as it was."""

import json
import os
from pathlib import Path

import pytest

from tests.home.small_disk import run_on_small_disk

pytestmark = [pytest.mark.process, pytest.mark.slow]

_ROOT = Path(__file__).parents[2]


def _on_small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> dict[str, object]:
    monkeypatch.setenv("PYTHONPATH", str(_ROOT), prepend=os.pathsep)
    code = f"from tests.faults.backing_up_on_full_disk import main; main({where!r})"
    return json.loads(run_on_small_disk(tmp_path, code, mib=32))


@pytest.mark.parametrize("where", ["folder", "file", "restore"])
def test_a_full_disk_leaves_no_half_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    told = _on_small_disk(tmp_path, monkeypatch, where)
    assert told == {"refused": ["DiskFull"], "left": [], "same": True, "then": True}
