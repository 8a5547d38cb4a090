"""A backup is whole, private and encrypted as the home is, and comes back exactly."""

import json
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, Denied, InvalidInput, KeyProblem, NotFound
from recollectum.home.paths import Home
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.manifest_file import NAME, read
from recollectum.upkeep.backup.restore import restore_home
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, BEN, fill, filled, opening, said


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_backup_comes_back_exactly_in_a_home_that_is_not_there_yet(place: Path, encryption: str) -> None:
    with filled(place, encryption=encryption) as home:
        before = {owner: said(home.vault(owner)) for owner in (ANN, BEN)}
        made = back_up(home.admin)
    (place / "home").rename(place / "lost")
    restored = restore_home(Home(place / "home"), place / "lost" / "backups" / made.path.name, opening(place))
    assert {str(owner) for owner in restored.owners} == set(before)
    with open_home(place, Turning(), encryption=encryption) as home:
        assert {owner: said(home.vault(owner)) for owner in (ANN, BEN)} == before
        assert all(home.vault(owner).admin.index.verify().sound for owner in (ANN, BEN))
        home.vault(ANN).memories.save("written after it came back")


def test_on_another_machine_the_recovery_code_opens_it(place: Path) -> None:
    with filled(place / "here", owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        code = home.encryption().new_recovery_code()
        made = back_up(home.admin, to=place / "stick")
    there = place / "there"
    # The key file does not travel.
    (place / "here" / "config").rename(place / "gone")
    with pytest.raises(KeyProblem):
        restore_home(Home(there / "home"), made.path, opening(there))
    assert not (there / "home" / "catalog.db").exists()
    restore_home(Home(there / "home"), made.path, opening(there, recovery_code=code))
    with open_home(there, Turning(), encryption="auto") as home:
        assert said(home.vault(ANN)) == before


def test_it_is_private_and_names_nobody(place: Path) -> None:
    with filled(place) as home:
        made = back_up(home.admin)
    for path in (made.path, *made.path.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    text = b"".join(path.read_bytes() for path in made.path.rglob("*") if path.is_file())
    assert b"things to keep" not in text
    assert b"user:ann" not in text
    assert json.loads((made.path / NAME).read_text())["parts"][0]["rows"]["vaults"] == 2


def test_the_key_of_nobody_else_is_in_a_backup_of_one_vault(place: Path) -> None:
    with filled(place) as home:
        made = back_up(home.admin, owners=[Owner.parse(ANN)])
        (entry,) = home.admin.entries([Owner.parse(ANN)])
    manifest = read(made.path)
    assert not manifest.whole
    assert [part.vault_id for part in manifest.vaults] == [entry.id]
    (keys,) = [part for part in manifest.parts if part.file == "keys.db"]
    assert keys.rows["vault_keys"] == 1
    assert not (made.path / "catalog.db").exists()


def test_into_a_file(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        archive = place / "stick" / "mine.tar"
        assert back_up(home.admin, to=archive).path == archive
        with pytest.raises(InvalidInput, match="never overwrites"):
            back_up(home.admin, to=archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert tarfile.is_tarfile(archive)
    assert [path.name for path in archive.parent.iterdir()] == ["mine.tar"]
    (place / "home").rename(place / "lost")
    restore_home(Home(place / "home"), archive, opening(place))
    with open_home(place, Turning(), encryption="auto") as home:
        assert said(home.vault(ANN)) == before
        assert not list(home.home.backups.iterdir())


def test_what_a_killed_backup_left_is_cleared_by_the_next(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        first = back_up(home.admin)
        left = [path.name for path in home.home.backups.iterdir()]
        assert left == [first.path.name]
        second = back_up(home.admin)
        assert second.path.name == f"{first.path.name}-2"


def test_an_owner_without_a_vault_and_a_caller_without_the_right_are_refused(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        with pytest.raises(NotFound, match="user:zoe"):
            back_up(home.admin, owners=[Owner.parse("user:zoe")])
        assert not list(home.home.backups.iterdir())
        with pytest.raises(Denied):
            _ = home.as_person(ANN).admin


def test_a_damaged_vault_makes_no_backup(place: Path) -> None:
    with open_home(place, Turning(), encryption="auto") as home:
        fill(home.vault(ANN), 400)
        path = file_of(home, ANN)
    assert path is not None
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with open_home(place, Turning(), encryption="auto") as home:
        _refuses(home)


def _refuses(home: Recollectum) -> None:
    with pytest.raises(Damaged):
        back_up(home.admin)
    assert not list(home.home.backups.iterdir())
