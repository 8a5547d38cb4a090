"""An old catalog that is put back is noticed: no revoked key works again, and the person is told."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged, Denied, KeysRefused, StorageError
from recollectum.home.paths import Home
from recollectum.storage.catalog_mark import CatalogMarkFile
from recollectum.storage.tables.catalog import catalog_changes
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home
from recollectum.upkeep.doctor.examination import examine
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.shape.source import ROOT
from tests.upkeep.homes import opening

pytestmark = pytest.mark.process

_ANN = "user:ann"
_KILLS = 80
_BOTH = pytest.mark.parametrize("encryption", ["off", "auto"])


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _file(place: Path) -> Path:
    return place / "home" / "catalog.db"


def _findings(home: Recollectum, *, fix: bool = False) -> list[HealthFinding]:
    found = examine(home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings, fix=fix)
    return [one for one in found if one.topic == "older catalog"]


def _put_old_catalog_back(place: Path, encryption: str = "off") -> str:
    """Revoke a key, and put the catalog from before back; return the secret of the key."""
    with open_home(place, Turning(), encryption=encryption) as home:
        home.vault(_ANN).memories.save("the harbour closes at nine")
        made = home.keys.add(_ANN)
    shutil.copy(_file(place), place / "old.db")
    with open_home(place, Turning(), encryption=encryption) as home:
        home.keys.revoke(made.key.id)
        home.people.add("user:ben")
    shutil.copy(_file(place), place / "new.db")
    shutil.copy(place / "old.db", _file(place))
    return made.secret


@_BOTH
def test_a_revoked_key_does_not_work_again_and_the_older_catalog_is_reported_until_it_is_settled(
    place: Path, encryption: str
) -> None:
    secret = _put_old_catalog_back(place, encryption)
    with pytest.raises(Damaged, match=r"catalog\.db is older than last seen \(2 changes of people, keys"):
        open_home(place, Turning(), encryption=encryption, api_key=secret)
    with pytest.raises(KeysRefused, match=r"no key is accepted now.*recollectum doctor"):
        open_home(place, Turning(), encryption=encryption, api_key=secret)
    with open_home(place, Turning(), encryption=encryption) as home:
        assert len(home.vault(_ANN).memories.list()) == 1
        home.people.add("user:eve")
        (found,) = _findings(home)
        assert found.severity is Severity.PROBLEM
        assert "2 changes" in found.words
        assert "doctor --fix" in str(found.cure)
        with pytest.raises(KeysRefused):
            home.login(secret)
        # The person looks through the keys before settling it.
        home.keys.revoke(home.keys.list()[0].id)
        assert _findings(home, fix=True)[0].fixed
        assert _findings(home) == []
        with pytest.raises(Denied, match="revoked"):
            home.login(secret)
        assert home.login(home.keys.add(_ANN).secret)


@_BOTH
def test_the_newer_catalog_that_is_put_back_settles_it(place: Path, encryption: str) -> None:
    secret = _put_old_catalog_back(place, encryption)
    with pytest.raises(Damaged, match="older than last seen"):
        open_home(place, Turning(), encryption=encryption)
    shutil.copy(place / "new.db", _file(place))
    for _ in range(2):
        with open_home(place, Turning(), encryption=encryption) as home:
            assert _findings(home) == []
            with pytest.raises(Denied, match="revoked"):
                home.login(secret)
    assert CatalogMarkFile(Home(place / "home")).read() == (4, None)


def test_each_older_catalog_is_refused_once(place: Path) -> None:
    _put_old_catalog_back(place)
    with pytest.raises(Damaged, match="2 changes"):
        open_home(place, Turning())
    open_home(place, Turning()).close()
    shutil.copy(place / "old.db", _file(place))
    with pytest.raises(Damaged, match="2 changes"):
        open_home(place, Turning())


def test_a_restored_home_is_no_surprise(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.vault(_ANN)
        made = back_up(home.admin, to=place / "stick").path
        for number in range(5):
            home.people.add(f"user:ben{number}")
    for path in (place / "home").glob("catalog.db*"):
        path.unlink()
    restore_home(Home(place / "home"), made, opening(place), replace=True)
    with open_home(place, Turning()) as home:
        assert [str(one) for one in home.list_owners()] == [_ANN]
        assert _findings(home) == []
        home.people.add("user:cleo")
    assert CatalogMarkFile(Home(place / "home")).read() == (2, None)


def test_a_home_that_is_begun_anew_is_no_surprise(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.people.add("user:ben")
    _file(place).unlink()
    with open_home(place, Turning()) as home:
        assert _findings(home) == []


def test_a_catalog_that_is_lost_and_then_replaced_by_an_old_one_is_noticed(place: Path) -> None:
    _put_old_catalog_back(place)
    _file(place).unlink()
    with pytest.raises(StorageError, match="is missing, but there are vaults"):
        open_home(place, Turning())
    shutil.copy(place / "old.db", _file(place))
    with pytest.raises(Damaged, match="older than last seen"):
        open_home(place, Turning())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"changes": "many"}', b"x" * 9000])
def test_a_mark_that_cannot_be_read_is_made_anew(place: Path, content: bytes) -> None:
    with open_home(place, Turning()) as home:
        home.people.add("user:ben")
    file = Home(place / "home").catalog_mark_file
    file.write_bytes(content)
    open_home(place, Turning()).close()
    assert json.loads(file.read_bytes()) == {"changes": 1, "refused": None}


def test_saves_recalls_and_repeated_requests_never_write_the_mark(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.vault(_ANN)
        key = home.keys.add(_ANN).secret
        file = Home(place / "home").catalog_mark_file
        before, changes = file.stat(), home.admin.catalog.read(catalog_changes.find)
        for number in range(200):
            seen = home.login(key)
            seen.vault(_ANN).memories.save(f"the harbour closes at {number}")
            seen.vault(_ANN).recall("harbour")
            seen.idempotency.once(f"request {number}", b"", dict)
        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert home.admin.catalog.read(catalog_changes.find) == changes


def _program(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.storage.catalog_changing_program", *arguments]


def test_a_kill_at_any_call_of_a_change_is_no_false_alarm(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.people.add(_ANN)
    done = subprocess.run(
        _program("die", str(place), str(_KILLS)), capture_output=True, text=True, check=True, cwd=ROOT
    )
    lags = done.stdout.split()
    assert len(lags) == _KILLS
    # Without the second the kills could all have come too early to prove anything.
    assert set(lags) == {"0", "1"}
    with open_home(place, Turning()) as home:
        assert _findings(home) == []


def test_four_processes_that_change_one_home_at_once_raise_no_false_alarm(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.people.add(_ANN)
    workers = [subprocess.Popen(_program("work", str(place), name, "25"), cwd=ROOT) for name in ("a", "b", "c", "d")]
    assert [worker.wait() for worker in workers] == [0, 0, 0, 0]
    with open_home(place, Turning()) as home:
        made = home.admin.catalog.read(catalog_changes.find)
        assert made == 1 + 4 * 25 * 3
    assert CatalogMarkFile(Home(place / "home")).read() == (made, None)
