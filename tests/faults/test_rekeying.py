"""A vault that gets a new key on a full disk stays readable, and the change is undone, or finished with room."""

import json
import os
from pathlib import Path

import pytest

from tests.home.small_disk import run_on_small_disk

pytestmark = [pytest.mark.process, pytest.mark.slow]

_ROOT = Path(__file__).parents[2]


def test_a_full_disk_before_while_and_after_the_vault_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(_ROOT), prepend=os.pathsep)
    told = run_on_small_disk(tmp_path, "from tests.faults.rekeying_on_full_disk import main; main()", mib=64)
    before, during, after = (json.loads(line) for line in told.splitlines())
    undone: dict[str, object] = {
        "refused": "DiskFull",
        "same": True,
        "unfinished": False,
        "left": [],
        "then": True,
        "new": False,
    }
    assert (before, during) == (undone, undone)
    # The vault has its new key, and only its old copy waits for room.
    assert after == {**undone, "unfinished": True, "new": True}
