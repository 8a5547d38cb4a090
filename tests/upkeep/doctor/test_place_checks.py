"""The doctor warns about a home on a network file system or in a folder that a program syncs."""

from pathlib import Path

import pytest

from recollectum.home.paths import Home
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity
from recollectum.upkeep.doctor.place_checks import place


def _mounts(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "mounts"
    path.write_text("".join(f"{line} rw 0 0\n" for line in ("disk / ext4", *lines)))
    return path


def _found(root: Path, mounts: Path) -> HealthFinding:
    root.mkdir(parents=True, exist_ok=True)
    (found,) = place(Home(root), mounts)
    return found


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs", "fuse"])
def test_a_network_file_system_is_named(kind: str, tmp_path: Path) -> None:
    found = _found(tmp_path / "far" / "home", _mounts(tmp_path, f"far:/x {tmp_path}/far {kind}"))
    assert found.severity is Severity.WARNING
    assert f"({kind})" in found.words
    assert found.cure is not None


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "tmpfs", "fuseblk", "overlay"])
def test_a_local_file_system_is_fine(kind: str, tmp_path: Path) -> None:
    found = _found(tmp_path / "near" / "home", _mounts(tmp_path, f"/dev/sdb {tmp_path}/near {kind}"))
    assert (found.severity, kind in found.words) == (Severity.FINE, True)


def test_the_innermost_mount_counts_and_its_name_may_have_spaces(tmp_path: Path) -> None:
    lines = (f"far:/x {tmp_path}/far nfs", f"/dev/sdb {tmp_path}/far/my\\040disk ext4")
    assert _found(tmp_path / "far" / "my disk" / "home", _mounts(tmp_path, *lines)).severity is Severity.FINE
    assert _found(tmp_path / "far" / "my disks", _mounts(tmp_path, *lines)).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("folder", "program"),
    [
        ("Dropbox/memory", "Dropbox"),
        ("Dropbox (Personal)/x/y", "Dropbox"),
        ("OneDrive - Example Ltd/memory", "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs/memory", "iCloud"),
        ("iCloudDrive/memory", "iCloud"),
        ("Google Drive/My Drive/memory", "Google Drive"),
        ("CloudStorage/GoogleDrive-ada@example.org/memory", "Google Drive"),
        ("Syncthing/memory", "Syncthing"),
    ],
)
def test_a_folder_of_a_sync_program_is_known_by_its_name(folder: str, program: str, tmp_path: Path) -> None:
    found = _found(tmp_path / folder, _mounts(tmp_path))
    assert (found.severity, f"a folder of {program}," in found.words) == (Severity.WARNING, True)


def test_a_folder_of_a_sync_program_is_known_by_what_the_program_left_there(tmp_path: Path) -> None:
    (tmp_path / "shared" / ".stfolder").mkdir(parents=True)
    assert "Syncthing" in _found(tmp_path / "shared" / "home", _mounts(tmp_path)).words


def test_the_folder_that_dropbox_keeps_for_itself_says_nothing_about_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "ada" / ".dropbox").mkdir(parents=True)
    assert _found(tmp_path / "ada" / ".recollectum", _mounts(tmp_path)).severity is Severity.FINE
    assert _found(tmp_path / "ada" / "dropboxes", _mounts(tmp_path)).severity is Severity.FINE
