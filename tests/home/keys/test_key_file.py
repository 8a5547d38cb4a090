"""A key file is private, whole, outside the data folder, and never laid over something else."""

import os
import stat
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput, KeyProblem, WrongKey
from recollectum.home.keys.key_file import KeyFile, check_outside, drop, fetch_all, find, keep, place, put
from recollectum.home.keys.wrapping import MasterKey

_MASTER = MasterKey.new()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "config" / "keys" / "home_a.key", named_for_home=True)


def test_the_usual_place_is_the_configuration_folder_of_the_given_environment(tmp_path: Path) -> None:
    found = place("", "home_a", {"XDG_CONFIG_HOME": str(tmp_path)})
    assert found == KeyFile(tmp_path / "recollectum" / "keys" / "home_a.key", named_for_home=True)


def test_without_one_it_is_the_platforms() -> None:
    found = place("", "home_a", {"XDG_CONFIG_HOME": "relative"}).path
    assert found.parts[-3:] == ("recollectum", "keys", "home_a.key")
    assert found.is_absolute()


def test_a_setting_names_the_file(tmp_path: Path) -> None:
    assert place(str(tmp_path / "k"), "home_a", {}) == KeyFile(tmp_path / "k", named_for_home=False)
    assert place("~/k", "home_a", {}).path == Path.home() / "k"
    with pytest.raises(InvalidInput, match="relative path; write an absolute one"):
        place("keys/k", "home_a", {})


def test_a_key_is_kept_privately_and_comes_back(file: KeyFile, home: Path) -> None:
    old = os.umask(0)
    try:
        assert keep(file, _MASTER, home)
    finally:
        os.umask(old)
    assert fetch_all(file.path) == [_MASTER]
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.path.parent.iterdir()] == ["home_a.key"]


def test_a_folder_of_the_persons_own_keeps_its_mode(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    keep(KeyFile(folder / "k", named_for_home=False), _MASTER, home)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@pytest.mark.parametrize("inside", ["k.key", "deep/er/k.key", "../home/k.key"])
def test_a_key_inside_the_data_folder_is_refused(home: Path, inside: str) -> None:
    with pytest.raises(InvalidInput, match="inside the data folder"):
        keep(KeyFile(home / inside, named_for_home=False), _MASTER, home)
    assert list(home.iterdir()) == []


def test_a_link_into_the_data_folder_is_seen_through(tmp_path: Path, home: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    with pytest.raises(InvalidInput, match="inside the data folder"):
        check_outside(tmp_path / "link" / "k.key", home)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o601])
def test_a_file_that_others_can_touch_is_refused_with_the_cure(file: KeyFile, home: Path, mode: int) -> None:
    keep(file, _MASTER, home)
    file.path.chmod(mode)
    with pytest.raises(KeyProblem, match=f"chmod 600 {file.path}"):
        fetch_all(file.path)
    file.path.chmod(0o400)
    assert fetch_all(file.path) == [_MASTER]


def test_a_missing_file_is_named_with_the_cure(file: KeyFile) -> None:
    with pytest.raises(KeyProblem, match=rf"{file.path}.*not there; restore the file, or run: recollectum encryption"):
        fetch_all(file.path)
    assert find(file.path) is None


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe\x00", b"recollectum-key-1:AAAA\n", b"x" * 5000])
def test_a_file_that_is_no_key_is_refused_and_not_overwritten(tmp_path: Path, home: Path, content: bytes) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(WrongKey, match="not a key file"):
        keep(KeyFile(path, named_for_home=False), _MASTER, home)
    assert path.read_bytes() == content


def test_the_key_of_something_else_is_not_overwritten(tmp_path: Path, home: Path) -> None:
    file = KeyFile(tmp_path / "shared.key", named_for_home=False)
    other = MasterKey.new()
    assert keep(file, other, home)
    with pytest.raises(KeyProblem, match="something else"):
        keep(file, _MASTER, home)
    assert fetch_all(file.path) == [other]


def test_the_same_key_is_left_as_it_is(tmp_path: Path, home: Path) -> None:
    file = KeyFile(tmp_path / "shared.key", named_for_home=False)
    assert keep(file, _MASTER, home)
    assert not keep(file, _MASTER, home)


def test_a_broken_file_under_the_homes_own_name_is_replaced(file: KeyFile, home: Path) -> None:
    keep(file, MasterKey.new(), home)
    assert keep(file, _MASTER, home)
    assert fetch_all(file.path) == [_MASTER]


def test_a_folder_or_a_pipe_is_not_a_key_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(KeyProblem, match="is not a file"):
            fetch_all(path)


def test_a_place_that_cannot_be_written_names_the_ways_out(tmp_path: Path, home: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(KeyProblem, match="name another place with key_file"):
        keep(KeyFile(tmp_path / "file" / "k", named_for_home=True), _MASTER, home)


def test_dropping_removes_the_file_and_a_missing_one_is_no_failure(file: KeyFile, home: Path) -> None:
    keep(file, _MASTER, home)
    drop(file.path)
    drop(file.path)
    assert not file.path.exists()


def test_new_keys_leave_no_copy_of_the_old_ones_that_a_killed_process_made(tmp_path: Path) -> None:
    path, other = tmp_path / "home.key", MasterKey.new()
    new = MasterKey.new()
    keep(KeyFile(path, named_for_home=True), _MASTER, tmp_path / "home")
    for name, key in (("a", _MASTER), ("b", new), ("c", other)):
        left = tmp_path / f".recollectum-{name}.tmp"
        left.write_text(key.to_text())
        left.chmod(0o600)
    put(path, (_MASTER, new))
    assert fetch_all(path) == [_MASTER, new]
    put(path, (new,))
    assert fetch_all(path) == [new]
    # That of another home may be in use at this moment.
    assert sorted(one.name for one in tmp_path.iterdir()) == [".recollectum-c.tmp", "home.key"]
