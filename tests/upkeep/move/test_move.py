"""All vaults of a home and its catalog move between files and databases, while the home is open."""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, NotFound, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.move import MoveResult
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.vault.intake.new_message import NewMessage
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase, available, database_on, words_in_rows
from tests.upkeep.homes import ANN, BEN
from tests.upkeep.move.homes import environ_of, made, moved, opened, says

pytestmark = pytest.mark.process
_URL = "RECOLLECTUM_STORAGE__URL"


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


def test_messages_that_wait_for_the_index_are_found_after_a_move(postgres: PostgresDatabase, place: Path) -> None:
    made(place, "")
    with opened(place) as home:
        vault = home.vault(ANN)
        for word, url in (("zebra", postgres.url()), ("walrus", "")):
            told = [NewMessage(role="user", content=f"a {word} in the garden"), NewMessage(role="user", content=word)]
            vault.sessions.open().add_many(told)
            moved(place, url)
            assert vault.admin.index.status().waiting == 2
            assert f"a {word} in the garden" in [hit.text for hit in vault.recall(word)]
            assert vault.admin.index.verify().sound


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


def test_a_home_that_is_open_follows_its_catalog(
    postgres: PostgresDatabase, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This process does nothing while it waits for itself.
    monkeypatch.setattr("recollectum.upkeep.move.PATIENCE", timedelta(0))
    before = made(place, "", [ANN], 8)
    with database_on(available()[-1]) as second, opened(place) as home:
        urls = [postgres.url(), second.url(), "", second.url(), postgres.url(), ""]
        for number, url in enumerate(urls):
            vault = home.vault(ANN)
            assert moved(place, url).catalog
            assert vault.memories.list(limit=1)
            # A person, a vault and a key that are written after the move are in the new catalog.
            for owner in [f"user:person-{one}" for one in range(number + 1)]:
                home.vault(owner).memories.save(f"written after move {number}")
            home.keys.add(ANN)
            assert home.admin.engine.place_of_catalog.startswith("postgresql" if url else "/")
            assert len(home.admin.entries()) == 2 + number
            assert says(place, [ANN]) == before
            assert not (place / "home" / "split.mark").exists()
            assert not (place / "home" / "move.mark").exists()
    with opened(place) as home:
        assert len(home.admin.entries()) == 1 + len(urls)
        assert len(home.keys.list()) == len(urls)


def test_vaults_move_from_one_database_into_another(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, postgres.url())
    with database_on(available()[-1]) as second:
        assert moved(place, second.url(), dry_run=True) == MoveResult(vaults=2, copied=2)
        one = moved(place, second.url(), ANN)
        assert (one.vaults, one.copied, one.catalog, one.kept) == (1, 1, False, ())
        assert says(place) == before
        with opened(place) as home:
            assert [str(entry.owner) for entry in home.admin.entries()] == [ANN, BEN]
            places = [home.admin.engine.place_of(entry.id) for entry in home.admin.entries()]
            assert [second.name in found.words for found in places if found] == [True, False]
            assert all(name in str(home.admin.engine.place_of_server) for name in (postgres.name, second.name))
        # The vault goes back, and nothing is left of the second place.
        assert moved(place, postgres.url(), ANN).copied == 1
        assert "second_url" not in (place / "home" / "settings.toml").read_text()
        done = moved(place, second.url())
        assert (done.vaults, done.copied, done.catalog) == (2, 2, True)
        assert says(place) == before
        assert words_in_rows(postgres, *[entry.id for entry in _entries(place)]) == set()
        with pytest.raises(Conflict, match="are in that database already"):
            moved(place, second.url())
        # A program whose environment still has the previous address finds the new one.
        with Recollectum(place / "home", environ={**environ_of(place), _URL: postgres.url()}) as home:
            assert home.vault(ANN).memories.list(limit=1)
            assert second.name in home.admin.engine.place_of_catalog
        moved(place, "")
        assert says(place) == before


def _entries(place: Path) -> list[VaultEntry]:
    with opened(place) as home:
        return home.admin.entries()


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
    with pytest.raises(Conflict, match="the vault of user:ann is in that database already"):
        moved(place, postgres.url(), ANN)
    with pytest.raises(Conflict, match="are in two places already"):
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


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_vault_whose_creation_was_killed_keeps_no_move_out(
    postgres: PostgresDatabase, place: Path, encryption: str
) -> None:
    before = made(place, postgres.url(), encryption=encryption)
    with opened(place) as home:
        # As `make_vault` leaves it when it is killed before the catalog lists the vault.
        key = home.admin.keys.make_key("vlt_killed") if encryption == "auto" else None
        home.admin.engine.create_vault("vlt_killed", Owner.parse("user:cleo"), key, {})
    moved(place, "")
    if encryption == "off":
        # Nothing but its age tells that no other home is making it.
        with pytest.raises(Conflict, match="has 1 vaults that this home has not; name an empty database"):
            moved(place, postgres.url())
    later = (system_clock() + timedelta(hours=2)).replace(microsecond=0)
    assert moved(place, postgres.url(), clock=lambda: later).copied == 2
    assert says(place) == before
    with opened(place) as home:
        assert home.vault("user:cleo").memories.save("made anew").memory
    assert moved(place, "").copied == 3


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


def test_other_hosts_follow_to_the_database_that_their_settings_name(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, postgres.url(), [ANN], 8)
    for host in ("told", "untold"):
        (place / host).mkdir()
        _copy_home(place, place / host)
    with database_on(available()[-1]) as second:
        line = f'second_url = "{second.url()}"\n'
        settings = {host: place / host / "home" / "settings.toml" for host in ("told", "untold")}
        settings["told"].write_text(settings["told"].read_text() + line)
        with opened(place / "told") as told, opened(place / "untold") as untold:
            vaults = [one.vault(ANN) for one in (told, untold)]
            assert moved(place, second.url(), ANN).copied == 1
            assert vaults[0].memories.save("written by another host").memory
            assert moved(place, second.url()).catalog
            assert second.name in str(told.vault(ANN).memories.list(limit=1) and told.admin.engine.place_of_catalog)
            with pytest.raises(StorageError, match=r"was moved away from .*; set storage\.url"):
                untold.people.list()
            # It goes on when its settings name the place.
            settings["untold"].write_text(settings["untold"].read_text() + line)
            assert untold.people.list()
            assert any(one.content == "written by another host" for one in vaults[1].memories.list(limit=50))
        assert says(place, [ANN]) != before
        assert says(place / "told", [ANN]) == says(place, [ANN])


def _copy_home(place: Path, to: Path) -> None:
    """Another host with the same keys and settings."""
    shutil.copytree(place / "home", to / "home")
    for name in ("user", "config", "system"):
        if (place / name).exists():
            shutil.copytree(place / name, to / name)
