"""All vaults of a home and its catalog move between files and a database; a kill at any step loses nothing."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, Conflict, LockHeld, NotFound, StorageError
from recollectum.home.move_mark import move_lock
from recollectum.home.paths import Home
from recollectum.upkeep.move import MoveResult
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.upkeep.homes import ANN, BEN
from tests.upkeep.move.homes import killed_at, made, moved, opened, says

pytestmark = pytest.mark.process
#: A killed move of the catalog that is decided: the home waits for the last steps.
_DECIDED = ("*/settings.toml", "*/aside-*/catalog.db", "*/home/catalog.db")


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _files(place: Path) -> int:
    return len(list((place / "home" / "vaults").glob("*.db")))


@pytest.mark.feature("A17")
def test_a_home_moves_to_a_database_and_back(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, "")
    assert moved(place, postgres.url(), dry_run=True) == MoveResult(vaults=2, copied=2)
    assert says(place) == before
    there = moved(place, postgres.url())
    assert (there.vaults, there.copied, there.catalog, len(there.kept)) == (2, 2, True, 3)
    assert _files(place) == 0
    assert says(place) == before
    with opened(place) as home:
        home.vault(ANN).memories.save("written in the database")
        # An edit from before the move is undone after it.
        home.vault(ANN).privacy.undo.last()
    changed = says(place)
    back = moved(place, "")
    assert (back.vaults, back.copied, back.catalog, back.kept) == (2, 2, True, ())
    assert says(place) == changed
    again = moved(place, postgres.url())
    assert (again.vaults, again.copied) == (2, 2)
    assert says(place) == changed


def test_a_vault_gets_new_keys_between_its_moves(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, postgres.url())
    moved(place, "")
    with opened(place) as home:
        rekey_vaults(home.admin, [Owner.parse(ANN)])
    moved(place, postgres.url())
    assert says(place) == before
    with opened(place) as home:
        rekey_vaults(home.admin)
    assert says(place) == before
    moved(place, "")
    assert says(place) == before


def test_single_vaults_move_and_the_catalog_follows_with_the_last(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, "")
    one = moved(place, postgres.url(), ANN)
    assert (one.vaults, one.copied, one.catalog, len(one.kept)) == (1, 1, False, 1)
    assert _files(place) == 1
    assert says(place) == before
    assert moved(place, postgres.url(), dry_run=True) == MoveResult(vaults=2, copied=1)
    rest = moved(place, postgres.url())
    assert (rest.vaults, rest.copied, rest.catalog) == (2, 1, True)
    assert not (place / "home" / "split.mark").exists()
    assert says(place) == before
    # The other way round the catalog is in the database, and one vault is a file.
    moved(place, "", BEN)
    assert _files(place) == 1
    with opened(place) as home:
        home.vault("user:cleo").memories.save("a new vault is beside the catalog")
    assert _files(place) == 1
    assert says(place) == before
    assert moved(place, "").copied == 2
    assert _files(place) == 3
    assert says(place) == before


@pytest.mark.parametrize("point", ["*/move.mark", *_DECIDED[:2]])
def test_a_move_to_a_database_that_is_killed_loses_nothing(postgres: PostgresDatabase, place: Path, point: str) -> None:
    before = made(place, "")
    moved(place, postgres.url(), ANN, BEN)
    killed_at(place, postgres.url(), ("file", point))
    _check_killed(place, postgres.url(), point, before)
    assert _files(place) == 0


@pytest.mark.parametrize("point", ["*/move.mark", "*/home/catalog.db", "*/settings.toml"])
def test_a_move_to_files_that_is_killed_loses_nothing(postgres: PostgresDatabase, place: Path, point: str) -> None:
    before = made(place, postgres.url())
    killed_at(place, "", ("file", point))
    _check_killed(place, "", point, before)
    assert _files(place) == 2


def _check_killed(place: Path, url: str, point: str, before: dict[str, object]) -> None:
    if point in _DECIDED:
        with pytest.raises(StorageError, match="finish with: recollectum move"):
            opened(place)
    else:
        assert says(place) == before
    moved(place, url)
    assert says(place) == before


def test_the_catalog_waits_until_nobody_uses_it(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, "")
    with opened(place) as home:
        with pytest.raises(Busy, match="2 vaults are moved, and the catalog is still in"):
            moved(place, postgres.url())
        assert home.vault(ANN).memories.list(limit=1)
    assert _files(place) == 0
    assert says(place) == before
    with move_lock(Home(place / "home")), pytest.raises(LockHeld, match="is being moved"):
        opened(place)
    assert moved(place, postgres.url()).catalog
    with opened(place), pytest.raises(Busy, match="stop all programs"):
        moved(place, "")
    assert says(place) == before
    moved(place, "")
    assert says(place) == before


def test_what_cannot_be_moved_is_refused_in_one_sentence(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, "")
    with pytest.raises(Conflict, match="are files already"):
        moved(place, "")
    with pytest.raises(Conflict, match="the vault of user:ann is a file already"):
        moved(place, "", ANN)
    with pytest.raises(NotFound, match="there is no vault of 'user:nobody' here"):
        moved(place, postgres.url(), "user:nobody")
    with pytest.raises(StorageError, match="cannot be reached"):
        moved(place, "postgresql://nobody@127.0.0.1:1/nowhere", ANN)
    moved(place, postgres.url(), ANN)
    with pytest.raises(Conflict, match="the vault of user:ann is in a database already"):
        moved(place, postgres.url(), ANN)
    with pytest.raises(Conflict, match="in another database already"):
        moved(place, "postgresql://nobody@127.0.0.1:1/nowhere", BEN)
    assert says(place) == before


def test_a_database_with_the_vaults_of_others_is_refused(postgres: PostgresDatabase, place: Path) -> None:
    (place / "other").mkdir()
    other = made(place / "other", postgres.url())
    before = made(place, "")
    with pytest.raises(Conflict, match="name an empty database"):
        moved(place, postgres.url(), ANN)
    assert says(place) == before
    assert says(place / "other") == other


def test_a_catalog_that_is_lost_is_not_replaced_by_that_of_the_database(
    postgres: PostgresDatabase, place: Path
) -> None:
    made(place, "")
    moved(place, postgres.url(), ANN, BEN)
    (place / "home" / "catalog.db").rename(place / "catalog.db")
    with pytest.raises(StorageError, match="restore the file from a backup"):
        opened(place)


def test_a_home_that_shares_the_database_says_where_the_vault_is(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, postgres.url())
    (place / "copy").mkdir()
    _copy_home(place, place / "copy")
    moved(place, "", ANN)
    assert says(place) == before
    with opened(place / "copy") as other:
        assert other.vault(BEN).memories.list(limit=1)
        with pytest.raises(StorageError, match="moved to the files of another home"):
            other.vault(ANN).memories.list()


def _copy_home(place: Path, to: Path) -> None:
    """Another host with the same keys and settings."""
    shutil.copytree(place / "home", to / "home")
    for name in ("user", "config", "system"):
        if (place / name).exists():
            shutil.copytree(place / name, to / name)
