"""The state directory: where it is, and every way in which it cannot be used."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import HomeError, InvalidInput
from recollectum.home.paths import Home, home_root, prepare

pytestmark = pytest.mark.process


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another account can reach; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


AS_OTHER = """
import os, sys
from pathlib import Path
from recollectum.home.paths import Home, prepare
if os.geteuid() == 0:
    os.setuid(65534)
prepare(Home(Path(sys.argv[1])))
"""


def prepare_as_other(root: Path) -> str:
    """What `prepare` says to an account that is not root."""
    done = subprocess.run([sys.executable, "-c", AS_OTHER, str(root)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.feature("G1")
def test_the_home_is_in_the_account_folder_unless_the_environment_names_another(tmp_path: Path) -> None:
    account = {"HOME": str(tmp_path)}
    assert home_root(None, account) == tmp_path / ".recollectum"
    assert home_root(None, {**account, "RECOLLECTUM_HOME": "/srv/memory"}) == Path("/srv/memory")
    assert home_root(Path("/other"), {**account, "RECOLLECTUM_HOME": "/srv/memory"}) == Path("/other")


def test_an_empty_variable_is_no_variable(tmp_path: Path) -> None:
    assert home_root(None, {"HOME": str(tmp_path), "RECOLLECTUM_HOME": " "}) == tmp_path / ".recollectum"


def test_a_tilde_is_the_account_folder(tmp_path: Path) -> None:
    account = {"HOME": str(tmp_path), "RECOLLECTUM_HOME": "~/memory"}
    assert home_root(None, account) == tmp_path / "memory"
    assert home_root(Path("~/x"), account) == tmp_path / "x"


def test_a_relative_home_is_taken_from_the_command_line_but_not_from_the_environment(tmp_path: Path) -> None:
    account = {"HOME": str(tmp_path)}
    assert home_root(Path("memory"), account) == Path.cwd() / "memory"
    with pytest.raises(HomeError, match=r"RECOLLECTUM_HOME is 'memory'.*write an absolute one"):
        home_root(None, {**account, "RECOLLECTUM_HOME": "memory"})


@pytest.mark.parametrize("given", ["", ".", "/", "~", "/a\0b"])
def test_a_home_that_would_take_over_other_things_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(HomeError, match=r"folder|NUL"):
        home_root(Path(given), {"HOME": str(tmp_path)})


def test_only_named_folders_can_be_asked_for(tmp_path: Path) -> None:
    assert Home(tmp_path).folder("skills") == tmp_path / "skills"
    with pytest.raises(InvalidInput, match="policies, commands, skills, agents, extensions"):
        Home(tmp_path).folder("../vaults")


@pytest.mark.feature("G1")
def test_preparing_makes_private_folders_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        prepare(Home(tmp_path / "above" / "home"))
    finally:
        os.umask(old)
    home = Home(tmp_path / "above" / "home")
    assert {mode(path) for path in (home.root, home.vaults, home.locks, home.backups)} == {0o700}


@pytest.mark.feature("G1")
def test_preparing_again_changes_nothing_but_takes_away_what_others_were_allowed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    prepare(home)
    home.root.chmod(0o755)
    (home.vaults / "kept").touch()
    prepare(home)
    assert mode(home.root) == 0o700
    assert (home.vaults / "kept").exists()


def test_a_home_behind_a_link_is_used(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    prepare(Home(tmp_path / "home"))
    assert (tmp_path / "disk" / "vaults").is_dir()


def test_a_file_where_the_home_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with pytest.raises(HomeError, match=r"home is not a folder; .*RECOLLECTUM_HOME"):
        prepare(Home(tmp_path / "home"))
    with pytest.raises(HomeError, match="a part of its path is a file"):
        prepare(Home(tmp_path / "home" / "below"))


def test_a_shared_folder_is_not_made_private(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(HomeError, match="shared by all accounts"):
        prepare(Home(shared))
    assert mode(shared) == 0o1777


def test_a_home_that_may_not_be_written_is_one_sentence(open_folder: Path) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o555)
    home.chmod(0o555)
    said = prepare_as_other(home)
    assert said.startswith("recollectum.domain.errors.HomeError")
    assert str(home) in said
    assert "owner or mode" in said


def test_a_home_that_may_not_be_made_is_one_sentence(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    said = prepare_as_other(open_folder / "above" / "home")
    assert said.startswith("recollectum.domain.errors.HomeError")
    assert str(open_folder / "above" / "home") in said


@pytest.mark.parametrize("name", ["passwd", "src", ".git"])
def test_a_folder_that_holds_other_things_and_is_no_home_is_left_alone(open_folder: Path, name: str) -> None:
    (open_folder / "logs").mkdir()
    (open_folder / name).mkdir()
    with pytest.raises(
        HomeError, match=f"is not a home and contains other files, such as '{name}'; name an empty folder"
    ):
        prepare(Home(open_folder))
    assert mode(open_folder) == 0o755
    assert sorted(path.name for path in open_folder.iterdir()) == sorted(["logs", name])


def test_a_home_that_lost_its_catalog_or_was_half_made_is_still_taken(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "c")}
    with Recollectum(tmp_path / "home", environ=environ) as home:
        home.vault("user:ann").learnings.save("tea without milk", "preference")
    (tmp_path / "home" / "settings.toml").touch()
    (tmp_path / "home" / ".DS_Store").touch()
    for name in ("catalog.db", "keys.db"):
        (tmp_path / "home" / name).unlink()
    prepare(Home(tmp_path / "home"))
