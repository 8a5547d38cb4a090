"""The power may fail at any moment: what was acknowledged is on the medium, whatever became of the rest."""

from pathlib import Path

import pytest

from tests.crashes.power import cut_power, record

pytestmark = pytest.mark.slow

_SEED = 20261115
_KEY = bytes(range(32))


@pytest.mark.parametrize("key", [_KEY, None], ids=["encrypted", "plain"])
def test_nothing_acknowledged_is_lost_to_a_power_cut(tmp_path: Path, key: bytes | None) -> None:
    recording = record(tmp_path, steps=60, seed=_SEED, key=key, synchronous="full")
    verdict = cut_power(recording, tmp_path, points=50, seed=_SEED, key=key)
    print(f"seed {_SEED}: {verdict.line()}")
    assert not verdict.lost, verdict.lost[:5]
    assert not verdict.corrupt, verdict.corrupt[:5]
    assert not verdict.half, verdict.half[:5]


def test_a_commit_that_waits_for_no_sync_is_seen_to_be_lost(tmp_path: Path) -> None:
    recording = record(tmp_path, steps=60, seed=_SEED, key=_KEY, synchronous="normal")
    verdict = cut_power(recording, tmp_path, points=20, seed=_SEED, key=_KEY)
    print(f"seed {_SEED}: {verdict.line()}")
    assert verdict.lost
    # What it loses it loses whole.
    assert not verdict.corrupt, verdict.corrupt[:5]


def test_files_written_in_any_order_are_seen_to_be_corrupt(tmp_path: Path) -> None:
    recording = record(tmp_path, steps=60, seed=_SEED, key=_KEY, synchronous="off")
    verdict = cut_power(recording, tmp_path, points=20, seed=_SEED, key=_KEY)
    print(f"seed {_SEED}: {verdict.line()}")
    assert verdict.corrupt or verdict.half
