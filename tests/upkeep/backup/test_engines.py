"""A backup of either engine comes back in the other: rows, numbers, vectors, history and rankings."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.copying.database_file import open_file
from recollectum.storage.engine import VAULT
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.vault.intake.new_message import NewMessage
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.recall.homes import scripted
from tests.upkeep.homes import ANN, BEN, fill, opening, said
from tests.upkeep.lives import digests, last_numbers, lived, ranked


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _opened(folder: Path, url: str, clock: Turning, encryption: str) -> Recollectum:
    settings = {"storage.url": url} if url else {}
    return open_home(folder, clock, settings=settings, encryption=encryption, embedder=scripted())


def _restored(place: Path, backup: Path, url: str, encryption: str) -> None:
    """Restore a backup into a new home on the engine of this address."""
    given = opening(place)
    settings = replace(given.settings, encryption=encryption, storage=StorageSettings(url=url))
    restore_home(Home(place / "home"), backup, replace(given, settings=settings))


@pytest.mark.parametrize(("first", "second"), [("files", "files"), ("files", "database"), ("database", "files")])
def test_messages_that_wait_for_the_index_are_found_where_they_come_back(
    postgres: PostgresDatabase, place: Path, first: str, second: str
) -> None:
    urls = {"files": "", "database": postgres.url()}
    with _opened(place, urls[first], Turning(), "auto") as home:
        told = [NewMessage(role="user", content=f"a {word} in the garden") for word in ("zebra", "walrus")]
        home.vault(ANN).sessions.open().add_many(told)
        made = back_up(home.admin, to=place / "stick")
        assert home.vault(ANN).admin.index.status().waiting == 2
    (place / "home").rename(place / "gone")
    _restored(place, made.path, urls[second], "auto")
    with _opened(place, urls[second], Turning(), "auto") as home:
        vault = home.vault(ANN)
        assert vault.admin.index.status().waiting == 2
        rekey_vaults(home.admin, [Owner.parse(ANN)])
        assert vault.recall("walrus")[0].text == "a walrus in the garden"
        assert vault.admin.index.status().waiting == 0
        assert vault.admin.index.verify().sound


@pytest.mark.parametrize(("first", "encryption"), [("files", "off"), ("database", "auto")])
def test_a_home_goes_to_the_other_engine_and_back_and_nothing_changes(
    postgres: PostgresDatabase, place: Path, first: str, encryption: str
) -> None:
    clock = Turning()
    here, there = ("", postgres.url()) if first == "files" else (postgres.url(), "")
    with _opened(place, here, clock, encryption) as home:
        lived(home, place, clock)
        order = {owner: ranked(home.vault(owner)) for owner in (ANN, BEN)}
        history = home.vault(ANN).admin.events.list(limit=500)
        made = back_up(home.admin, to=place / "stick")
        entry = home.admin.entries()[0]
        with open_file(made.path / f"vaults/{entry.id}.db", VAULT, home.admin.key_of(entry)) as file:
            tables = file.tables
        rows, numbers = digests(home, tables), last_numbers(home)
    (place / "home").rename(place / "gone")
    _restored(place, made.path, there, encryption)
    with _opened(place, there, clock, encryption) as home:
        assert digests(home, tables) == rows
        assert last_numbers(home) == numbers
        assert {owner: ranked(home.vault(owner)) for owner in (ANN, BEN)} == order
        assert home.vault(ANN).admin.events.list(limit=500) == history
        fresh = home.vault(ANN).memories.save("written after the change of engines").memory
        assert home.vault(ANN).recall("change of engines")[0].source.memory_id == fresh.id


def test_a_vault_in_a_database_is_replaced_while_it_is_open_and_the_rest_stays(
    postgres: PostgresDatabase, place: Path
) -> None:
    clock = Turning()
    with _opened(place, postgres.url(), clock, "auto") as home:
        for owner in (ANN, BEN):
            fill(home.vault(owner), 20)
        before, order = said(home.vault(ANN)), ranked(home.vault(ANN))
        made = back_up(home.admin, owners=[Owner.parse(ANN)])
        home.vault(ANN).memories.save("number 17 of the things that go again")
        home.vault(BEN).memories.save("stays")
        others = said(home.vault(BEN))
        with pytest.raises(Conflict, match="--replace"):
            restore_vaults(home.admin, made.path, opening(place), owners=[Owner.parse(ANN)])
        restored = restore_vaults(home.admin, made.path, opening(place), owners=[Owner.parse(ANN)], replace=True)
        assert said(home.vault(ANN)) == before
        assert ranked(home.vault(ANN)) == order
        assert said(home.vault(BEN)) == others
        # What was replaced is a backup too.
        restore_vaults(home.admin, restored.kept[0], opening(place), owners=[Owner.parse(ANN)], replace=True)
        assert home.vault(ANN).recall("things that go again")[0].text == "number 17 of the things that go again"


def test_a_whole_home_is_not_restored_into_a_database_with_vaults(postgres: PostgresDatabase, place: Path) -> None:
    with _opened(place, postgres.url(), Turning(), "off") as home:
        home.vault(ANN).memories.save("is here first")
        made = back_up(home.admin, to=place / "stick")
    (place / "home").rename(place / "gone")
    with pytest.raises(Conflict, match="has vaults already"):
        _restored(place, made.path, postgres.url(), "off")
    (place / "home").rename(place / "refused")
    (place / "gone").rename(place / "home")
    with _opened(place, postgres.url(), Turning(), "off") as home:
        assert home.vault(ANN).recall("here first")
