"""A home whose vaults are in two places is copied, examined, kept up and erased as any other."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.places.routed_rewriting import RoutedRewriting
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.upkeep.rounds.duties import UpkeepRuntime, VaultDuty
from recollectum.upkeep.rounds.scheduler import duty
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.upkeep.homes import ANN, BEN, opening
from tests.upkeep.move.homes import made, moved, opened, says

pytestmark = pytest.mark.process


@pytest.fixture(params=["files", "database"])
def split(request: pytest.FixtureRequest, postgres: PostgresDatabase) -> Iterator[Path]:
    """A home with its catalog in one place, where Ben's vault is, and Ann's vault in the other."""
    with quick_folder() as folder:
        here, there = ("", postgres.url()) if request.param == "files" else (postgres.url(), "")
        made(folder, here)
        moved(folder, there, ANN)
        yield folder


def test_a_backup_has_all_vaults_and_restores_into_one_place(split: Path) -> None:
    before = says(split)
    with opened(split) as home:
        backup = back_up(home.admin, to=split / "stick").path
    (split / "home").rename(split / "gone")
    given = opening(split)
    settings = replace(given.settings, storage=StorageSettings(reserve_mib=0))
    restore_home(Home(split / "home"), backup, replace(given, settings=settings))
    (split / "home" / "settings.toml").write_text('[embedding]\nprovider = "none"\n')
    assert len(list((split / "home" / "vaults").glob("*.db"))) == 2
    assert says(split) == before


def test_the_rounds_find_what_was_written_in_either_place(split: Path) -> None:
    with opened(split) as home:
        found: list[str] = []

        def open_vault(owner: Owner) -> Vault:
            found.append(str(owner))
            return home.vault(owner)

        runtime = UpkeepRuntime(
            admin=home.admin,
            settings=home.settings,
            open_vault=open_vault,
            stop=threading.Event(),
            settling=timedelta(0),
        )
        task = duty(runtime, "retention", timedelta(0))
        assert isinstance(task, VaultDuty)
        for written in ([ANN, BEN], [], [ANN], [BEN]):
            for owner in written:
                home.vault(owner).memories.save("written before a round")
            found.clear()
            task.make()
            assert sorted(found) == written


def test_each_vault_is_where_it_says(split: Path) -> None:
    with opened(split) as home:
        places = [home.admin.engine.place_of(entry.id) for entry in home.admin.entries()]
        assert sorted("home/vaults/" in place.words for place in places if place) == [False, True]
        assert len(home.admin.engine.vault_ids()) == 2


def test_each_vault_gets_a_new_key_where_it_is(split: Path) -> None:
    before = says(split)
    with opened(split) as home:
        keys, ids = home.admin.keys, [entry.id for entry in home.admin.entries()]
        old = [keys.key(one) for one in ids]
        rekey_vaults(home.admin)
        assert not {*old} & {keys.key(one) for one in ids}
        # What a killed move left of a vault could not be opened any more.
        rewriting, vault_id = home.admin.engine.upkeep.rewriting, ids[0]
        assert isinstance(rewriting, RoutedRewriting)
        for engine in rewriting.engines:
            if vault_id not in engine.vault_ids():
                engine.create_vault(vault_id, Owner.parse(ANN), keys.key(vault_id), {})
                with pytest.raises(StorageError, match="a move has left a part of the vault"):
                    rekey_vaults(home.admin)
                engine.destroy_vault(vault_id)
        assert not keys.has_unfinished()
    assert says(split) == before
    for owner in (ANN, BEN):
        with opened(split) as home:
            vault = home.vault(owner)
            gone = vault.memories.save("to be erased").memory.id
            purge = vault.privacy.purge
            assert purge.run(purge.preview(PurgeRequest.memories(gone, shred=True)).token).shredded


def test_a_person_is_erased_from_both_places(split: Path) -> None:
    with opened(split) as home:
        server = home.admin.engine.place_of_server
        for owner in (ANN, BEN):
            purge = home.vault(owner).privacy.purge
            receipt = purge.run(purge.preview(PurgeRequest.user()).token)
            # Rows that left the database may still be in its log.
            assert any(server in place for place in receipt.elsewhere if server)
        assert home.admin.engine.vault_ids() == []
