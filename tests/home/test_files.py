"""Files are written whole or not at all, privately, and failures are one sentence."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollectum.domain.errors import HomeError
from recollectum.home.files import create_private, make_private_folder, write_atomic
from tests.home.small_disk import run_on_small_disk

pytestmark = pytest.mark.process

REWRITE = """
import sys
from pathlib import Path
from recollectum.home.files import write_atomic
path, size, number = Path(sys.argv[1]), 200_000, 0
print("ready", flush=True)
while True:
    number += 1
    write_atomic(path, f"{number:08d}".encode() + bytes([65 + number % 26]) * size)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.feature("G8")
def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_pointed_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "file").symlink_to(tmp_path / "victim")
    write_atomic(tmp_path / "file", b"new")
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "file").is_symlink()


def test_a_name_as_long_as_names_get_can_be_written(tmp_path: Path) -> None:
    write_atomic(tmp_path / ("n" * 255), b"x")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


@pytest.mark.feature("G8")
def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").touch()
    with pytest.raises(HomeError, match="folder cannot be written"):
        write_atomic(tmp_path / "folder", b"x")
    with pytest.raises(HomeError, match="cannot be written"):
        write_atomic(tmp_path / "missing" / "file", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert (tmp_path / "folder" / "kept").exists()


@pytest.mark.feature("G8")
def test_kills_leave_the_old_or_the_new_file_and_never_a_half(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for number in range(15):
        with subprocess.Popen([sys.executable, "-c", REWRITE, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            while not path.exists():
                time.sleep(0.001)
            time.sleep(0.003 * number)
            writer.send_signal(signal.SIGKILL)
        data = path.read_bytes()
        assert len(data) == 200_008
        assert data[8:] == bytes([65 + int(data[:8]) % 26]) * 200_000


def test_a_full_disk_keeps_the_old_file_and_says_so(tmp_path: Path) -> None:
    """It also takes a part of what is offered and says nothing, so a single write would leave a short file."""
    said = run_on_small_disk(
        tmp_path,
        """
import os, sys
from pathlib import Path
from recollectum.domain.errors import DiskFull
from recollectum.home.files import write_atomic
folder = Path(sys.argv[1])
path = folder / "settings"
write_atomic(path, b"old")
try:
    write_atomic(path, b"x" * 3_000_000)
except DiskFull as error:
    print(error)
print(path.read_bytes(), sorted(os.listdir(folder)))
""",
        mib=2,
    )
    assert said.splitlines() == [
        f"there is no room left to write {tmp_path}/settings; free some space and try again, nothing was changed",
        "b'old' ['home', 'settings']",
    ]


@pytest.mark.feature("G1")
def test_a_read_only_file_system_is_one_sentence_for_file_and_home(tmp_path: Path) -> None:
    said = run_on_small_disk(
        tmp_path,
        """
import sys
from pathlib import Path
from recollectum.domain.errors import HomeError, ReadOnly
from recollectum.home.files import write_atomic
from recollectum.home.paths import Home, prepare
root = Path(sys.argv[1]) / "home"
try:
    write_atomic(root / "settings", b"new")
except ReadOnly as error:
    print(error)
for place in (root, root / "new"):
    try:
        prepare(Home(place))
    except HomeError as error:
        print(error)
""",
        mib=2,
        read_only=True,
    )
    assert len(said.splitlines()) == 3
    for line in said.splitlines():
        assert str(tmp_path) in line
        assert "read-only file system" in line
        assert "RECOLLECTUM_HOME" in line


def test_a_private_file_is_made_empty_and_an_existing_one_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "vault.db"
    old = os.umask(0)
    try:
        create_private(path)
    finally:
        os.umask(old)
    assert (path.read_bytes(), mode(path)) == (b"", 0o600)
    path.write_bytes(b"kept")
    path.chmod(0o664)
    create_private(path)
    assert (path.read_bytes(), mode(path)) == (b"kept", 0o600)


def test_a_private_file_is_not_made_where_a_folder_is(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="is not a file"):
        create_private(tmp_path)


def test_a_private_folder_is_tightened_and_not_made_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir(mode=0o755)
    make_private_folder(tmp_path / "loose")
    assert mode(tmp_path / "loose") == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match="is not a folder"):
        make_private_folder(tmp_path / "file")
