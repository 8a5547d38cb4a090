"""An old file that is put back in the place of a vault is noticed, and a deliberate restore is not."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged
from recollectum.domain.message import Role
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_vaults
from recollectum.upkeep.doctor.examination import examine
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity
from recollectum.vault.open_vaults import EVERY
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import opening

pytestmark = pytest.mark.process

_ANN = "user:ann"


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _save(home: Recollectum, first: int, count: int) -> None:
    for number in range(first, first + count):
        home.vault(_ANN).memories.save(f"the harbour closes at {number}")


def _file(place: Path) -> Path:
    (path,) = (place / "home" / "vaults").glob("*.db")
    return path


def _findings(home: Recollectum, *, fix: bool = False) -> list[HealthFinding]:
    found = examine(home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings, fix=fix)
    return [one for one in found if one.topic == "older vault"]


def _put_old_file_back(place: Path, encryption: str) -> None:
    with open_home(place, Turning(), encryption=encryption) as home:
        _save(home, 0, 3)
    shutil.copy(_file(place), place / "old.db")
    with open_home(place, Turning(), encryption=encryption) as home:
        _save(home, 3, 50)
    shutil.copy(place / "old.db", _file(place))


@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_an_old_file_is_refused_once_with_what_is_missing_and_reported_until_it_is_settled(
    place: Path, encryption: str
) -> None:
    _put_old_file_back(place, encryption)
    with open_home(place, Turning(), encryption=encryption) as home:
        (found,) = _findings(home)
        assert found.severity is Severity.PROBLEM
        assert "50 events and 50 pieces of text are missing" in found.words
    with open_home(place, Turning(), encryption=encryption) as home:
        with pytest.raises(Damaged, match="older than last seen \\(50 events"):
            home.vault(_ANN).memories.list()
        assert len(home.vault(_ANN).memories.list()) == 3
        _save(home, 100, 2)
    with open_home(place, Turning(), encryption=encryption) as home:
        assert len(home.vault(_ANN).memories.list()) == 5
        assert "50 events" in _findings(home)[0].words
        assert _findings(home, fix=True)[0].fixed
        assert _findings(home) == []


def test_an_old_file_without_messages_is_noticed_too(place: Path) -> None:
    with open_home(place, Turning()) as home:
        chat = home.vault(_ANN).sessions.open(channel="cli")
        chat.add(Role.USER, "the first")
    shutil.copy(_file(place), place / "old.db")
    with open_home(place, Turning()) as home:
        home.vault(_ANN).sessions.chat(chat.id).add(Role.USER, "the second")
    shutil.copy(place / "old.db", _file(place))
    with open_home(place, Turning()) as home, pytest.raises(Damaged, match="0 events and 1 pieces"):
        home.vault(_ANN).memories.list()


def test_a_restore_of_an_older_backup_is_no_surprise(place: Path) -> None:
    with open_home(place, Turning()) as home:
        _save(home, 0, 3)
        made = back_up(home.admin, to=place / "stick").path
        _save(home, 3, 20)
    with open_home(place, Turning()) as home:
        restore_vaults(home.admin, made, opening(place), replace=True)
        assert len(home.vault(_ANN).memories.list()) == 3
        assert _findings(home) == []
    with open_home(place, Turning()) as home:
        assert len(home.vault(_ANN).memories.list()) == 3


def test_the_mark_is_stored_while_a_vault_stays_open_and_costs_an_ordinary_save_nothing(place: Path) -> None:
    with open_home(place, Turning()) as home:
        _save(home, 0, 1)
    shutil.copy(_file(place), place / "old.db")
    home = open_home(place, Turning())
    _save(home, 1, EVERY + 1)
    shutil.copytree(place / "home", place / "later" / "home")
    home.close()
    for log in (place / "later" / "home" / "vaults").glob("*"):
        log.unlink()
    shutil.copy(place / "old.db", place / "later" / "home" / "vaults" / _file(place).name)
    with open_home(place / "later", Turning()) as home, pytest.raises(Damaged, match=f"{EVERY} events"):
        home.vault(_ANN).memories.list()
