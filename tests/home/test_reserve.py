"""The reserve really takes the room, and gives it back on a full disk."""

import os
import stat
from pathlib import Path

import pytest

from recollectum.domain.errors import HomeError
from recollectum.home.reserve import SIZE, Reserve
from tests.home.small_disk import run_on_small_disk

pytestmark = pytest.mark.process


def allocated(path: Path) -> int:
    return path.stat().st_blocks * 512


def test_the_room_is_really_taken(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve")
    assert reserve.ensure()
    assert allocated(reserve.path) >= SIZE == 8 * 1024 * 1024
    assert stat.S_IMODE(reserve.path.stat().st_mode) == 0o600


def test_ensuring_again_does_nothing_and_fills_a_file_that_is_only_holes(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve", 100_000)
    assert reserve.ensure()
    before = reserve.path.stat()
    assert reserve.ensure()
    assert reserve.path.stat().st_mtime_ns == before.st_mtime_ns
    os.truncate(reserve.path, 0)
    os.truncate(reserve.path, 100_000)
    assert allocated(reserve.path) < 100_000
    assert reserve.ensure()
    assert allocated(reserve.path) >= 100_000


def test_it_is_released_once(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve", 4096)
    reserve.ensure()
    assert reserve.release()
    assert not reserve.release()
    assert not reserve.path.exists()


def test_no_reserve_is_wanted_when_its_size_is_zero(tmp_path: Path) -> None:
    assert Reserve(tmp_path / "reserve", 0).ensure()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="reserve cannot be written"):
        Reserve(tmp_path / "missing" / "reserve").ensure()


def test_without_room_no_file_is_left_and_with_it_a_full_disk_can_write_again(tmp_path: Path) -> None:
    said = run_on_small_disk(
        tmp_path,
        """
import sys
from pathlib import Path
from recollectum.domain.errors import DiskFull
from recollectum.home.files import write_atomic
from recollectum.home.reserve import Reserve
folder = Path(sys.argv[1])
big, small = Reserve(folder / "big", 8 << 20), Reserve(folder / "small", 1 << 20)
print(big.ensure(), big.path.exists(), small.ensure())
try:
    with (folder / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(65536))
except OSError as error:
    print(error.errno)
try:
    write_atomic(folder / "file", bytes(500_000))
except DiskFull:
    print("full")
print(small.release())
write_atomic(folder / "file", bytes(500_000))
print("written", small.ensure(), small.path.exists())
""",
        mib=4,
    )
    assert said.split() == ["False", "False", "True", "28", "full", "True", "written", "False", "False"]
