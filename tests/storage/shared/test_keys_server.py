"""Two hosts share keys in a keys database: what one makes, changes or destroys is so for the other at once."""

import shutil
from pathlib import Path

import psycopg
import pytest

from recollectum.domain.errors import (
    Conflict,
    KeyProblem,
    KeyStoreMissing,
    RecollectumError,
    SettingsError,
    StorageError,
    WrongKey,
)
from recollectum.domain.ids import system_clock
from recollectum.engine import open_keys
from recollectum.home.keys.holders import HolderKind
from recollectum.home.paths import Home
from recollectum.storage.shared.choosing import load_copied_keys
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.upkeep.rekey.master_key import rekey_master
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from tests.plugins.postgres import database_on, words_in_rows
from tests.storage.shared.two_hosts import TwoHosts, hosts
from tests.upkeep.homes import said

__all__ = ["hosts"]
pytestmark = pytest.mark.process
ANN, BEN = "user:ann", "user:ben"


def test_a_vault_that_one_host_makes_is_used_by_the_other_at_once(hosts: TwoHosts) -> None:
    with hosts.open("one") as one, hosts.open("two") as two:
        one.vault(ANN).memories.save("the harbour is closed")
        assert said(two.vault(ANN))[0] == ["the harbour is closed"]
        two.vault(BEN).memories.save("the pier is open")
        assert said(one.vault(BEN))[0] == ["the pier is open"]
        assert one.admin.entries()[0].encrypted
        assert not list(Path(one.home.root).glob("keys.db*"))
    # Neither database is of use without the other, nor both without the master key.
    assert words_in_rows(hosts.keys, "the harbour", ANN) == set()
    count = "SELECT count(*) FROM recollectum_catalog.vault_keys"
    for database, keys in ((hosts.rows, 0), (hosts.keys, 3)):
        with psycopg.connect(database.administrator_url) as administrator:
            assert administrator.execute(count).fetchall() == [(keys,)]


def test_a_key_that_one_host_changes_is_changed_for_the_other(hosts: TwoHosts) -> None:
    with hosts.open("one") as one, hosts.open("two") as two:
        one.vault(ANN).memories.save("the harbour is closed")
        held = two.vault(ANN)
        assert said(held)[0] == ["the harbour is closed"]
        for home in (one, two, one):
            rekey_vaults(home.admin)
            held.memories.save("written after a change")
            assert said(held) == said(one.vault(ANN))


def test_a_person_whom_one_host_purges_cannot_be_read_on_the_other(hosts: TwoHosts) -> None:
    with hosts.open("one") as one, hosts.open("two") as two:
        one.vault(ANN).memories.save("the harbour is closed")
        held = two.vault(ANN)
        held.memories.list()
        purge = one.vault(ANN).privacy.purge
        receipt = purge.run(purge.preview(PurgeRequest.user()).token)
        assert receipt.state is PurgeState.DONE, receipt
        with pytest.raises(RecollectumError):
            held.memories.list()


def test_a_destroyed_key_stops_a_host_that_has_it_in_memory(hosts: TwoHosts) -> None:
    with hosts.open("one") as one, hosts.open("two") as two:
        one.vault(ANN).memories.save("the harbour is closed")
        held = two.vault(ANN)
        held.memories.list()
        vault_id = one.admin.entries()[0].id

        def destroy() -> None:
            one.admin.keys.destroy_key(vault_id)
            raise InterruptedError("as a purge that is killed before it deletes the rows")

        with pytest.raises(InterruptedError):
            one.admin.engine.destroy_vault(vault_id, destroy)
        with pytest.raises(KeyProblem, match=r"there is no key for vault .* in the keys database postgresql://"):
            held.memories.list()


def test_hosts_find_the_same_master_key_each_in_its_own_way(hosts: TwoHosts) -> None:
    with hosts.open("one", key_file="") as one:
        one.vault(ANN).memories.save("the harbour is closed")
        held = Path(one.encryption().holder().path or "")
        code = one.encryption().new_recovery_code()
    # The hosts of this test have one file system.
    aside = held.rename(held.with_suffix(".elsewhere"))
    with pytest.raises(KeyProblem, match=r"is held in the file .* which is not there"), hosts.open("two", key_file=""):
        pass
    # Another path on this host: as an operator copies the secret.
    copy = hosts.folder / "copied.key"
    shutil.copy(aside, copy)
    with hosts.open("two", key_file=str(copy)) as two:
        assert said(two.vault(ANN))[0] == ["the harbour is closed"]
        assert two.encryption().holder().path == str(copy)
        assert (two.encryption().holder().keys or "").startswith("the keys database postgresql://")
    # A third one is given the recovery code, and the others go on as they were.
    keys = open_keys(hosts.home("three"), environ=hosts.environ_with_settings("three"))
    keys.recover(code)
    keys.close()
    aside.rename(held)
    for host, key_file in (("three", ""), ("one", ""), ("two", str(copy))):
        with hosts.open(host, key_file=key_file) as home:
            assert said(home.vault(ANN))[0] == ["the harbour is closed"]


def test_a_new_master_key_reaches_hosts_by_the_passphrase_and_not_by_an_old_file(hosts: TwoHosts) -> None:
    with hosts.open("one", key_file="") as one:
        one.vault(ANN).memories.save("the harbour is closed")
        shutil.copy(one.encryption().holder().path or "", hosts.folder / "old.key")
        rekey_master(one.admin)
    with pytest.raises(WrongKey, match="not the present one of these hosts; copy it from another host"):
        hosts.open("two", key_file=str(hosts.folder / "old.key"))
    with hosts.open("one", key_file="") as one:
        one.encryption().hold_by(HolderKind.PASSPHRASE, passphrase="the harbour master sleeps at noon")
    with hosts.open("two", key_file="", passphrase="the harbour master sleeps at noon") as two:
        assert said(two.vault(ANN))[0] == ["the harbour is closed"]


def test_a_new_master_key_is_finished_by_the_host_whose_backups_it_reaches(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        one.vault(ANN).memories.save("the harbour is closed")
        folder = back_up(one.admin).path
        # As if it were killed before it came to its backups.
        one.admin.keys.change_master()
    with hosts.open("two") as two:
        assert said(two.vault(ANN))[0] == ["the harbour is closed"]
        assert not two.admin.keys.has_unfinished()
        with pytest.raises(KeyProblem, match=r"not finished .* open the home of the host that began it"):
            rekey_master(two.admin)
    with hosts.open("one") as one:
        assert not one.admin.keys.has_unfinished()
        one.vault(ANN).memories.save("written after it")
        restore_vaults(one.admin, folder, hosts.access("one"), replace=True)
        assert said(one.vault(ANN))[0] == ["the harbour is closed"]


def test_the_database_of_the_vaults_is_refused_as_keys_database(hosts: TwoHosts) -> None:
    for url in (hosts.rows.url(), hosts.rows.url().replace("?", "?application_name=other&")):
        with pytest.raises(SettingsError, match=r"storage\.keys_url and storage\.url name the same database"):
            hosts.open("one", storage__keys_url=url)
    # Under another name of the same place: the server tells.
    other = hosts.rows.url().replace("host=", "host=%2Ftmp%2F..")
    with pytest.raises(SettingsError, match="name the same database"):
        hosts.open("one", storage__keys_url=other)
    with pytest.raises(SettingsError, match=r"storage\.keys_url is set, but storage\.url is not"):
        hosts.open("one", storage__url="")
    assert not (hosts.home("one") / "keys.mark").exists()


def test_new_keys_are_never_made_for_rows_that_lost_theirs(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        one.vault(ANN).memories.save("the harbour is closed")
    with database_on(hosts.keys.server.version) as empty:
        with pytest.raises(KeyStoreMissing, match="has no keys, but this home has used keys in it; restore it from"):
            hosts.open("one", storage__keys_url=empty.url())
        with pytest.raises(KeyStoreMissing, match=r"has no keys, but postgresql://.* is encrypted; restore the keys"):
            hosts.open("two", storage__keys_url=empty.url())
    with pytest.raises(SettingsError, match=r"are in a keys database, but storage\.keys_url is not set"):
        hosts.open("one", storage__keys_url="")
    with hosts.open("one") as one:
        assert said(one.vault(ANN))[0] == ["the harbour is closed"]


def test_a_keys_database_that_is_away_is_an_error_without_effect(hosts: TwoHosts) -> None:
    with hosts.open("one", storage__busy_timeout_seconds=0.3) as one:
        vault = one.vault(ANN)
        gone = vault.memories.save("the harbour is closed").memory.id
        token = vault.privacy.purge.preview(PurgeRequest.memories(gone)).token
        leave = vault.privacy.purge.preview(PurgeRequest.user()).token
        with hosts.keys_away():
            # What is open goes on.
            assert said(vault)[0] == ["the harbour is closed"]
            for act in (
                lambda: one.vault(BEN).memories.save("never"),
                lambda: rekey_vaults(one.admin),
                lambda: vault.privacy.purge.run(token),
                lambda: vault.privacy.purge.run(leave),
                lambda: hosts.open("two"),
            ):
                with pytest.raises(StorageError, match="the keys database postgresql://"):
                    act()
        assert [str(entry.owner) for entry in one.admin.entries()] == [ANN]
        assert said(vault)[0] == ["the harbour is closed"]
        assert one.receipts.list() == []
        assert vault.privacy.purge.run(token).state is PurgeState.DONE


def test_what_was_erased_is_erased_again_from_rows_that_were_put_back(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        vault = one.vault(ANN)
        vault.memories.save("the harbour is closed")
        gone = vault.memories.save("the spare key is under the third flowerpot").memory.id
        one.vault(BEN).memories.save("the pier is open")
    with database_on(hosts.rows.server.version, hosts.rows) as before:
        with hosts.open("one") as one:
            purge = one.vault(ANN).privacy.purge
            purge.run(purge.preview(PurgeRequest.memories(gone)).token)
            other = one.vault(BEN).privacy.purge
            other.run(other.preview(PurgeRequest.user()).token)
            assert len(one.receipts.list()) == 2
        # A home that has seen nothing of it, on the rows from before.
        with hosts.open("two", storage__url=before.url()) as two:
            assert said(two.vault(ANN))[0] == ["the harbour is closed"]
            assert [str(entry.owner) for entry in two.admin.entries()] == [ANN]
            assert len(two.receipts.list()) >= 2


def test_a_backup_of_shared_keys_restores_into_files_and_into_an_empty_keys_database(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        one.vault(ANN).memories.save("the harbour is closed")
        folder = back_up(one.admin, to=hosts.folder / "stick").path
        one.vault(BEN).memories.save("made after the backup")
    with database_on(hosts.rows.server.version) as rows, database_on(hosts.rows.server.version) as keys:
        urls = {"storage__url": rows.url(), "storage__keys_url": keys.url()}
        for target, given in (("files", {"storage__url": "", "storage__keys_url": ""}), ("three", urls)):
            access = hosts.access(target, **given)
            restore_home(Home(hosts.home(target)), folder, access)
            with hosts.open(target, **given) as again:
                assert said(again.vault(ANN))[0] == ["the harbour is closed"]
            assert (hosts.home(target) / "keys.db").exists() is (target == "files")
        with pytest.raises(Conflict, match="has other keys than those that are moved into it"):
            load_copied_keys(Home(hosts.home("four")), hosts.storage(), folder / "keys.db", system_clock)


def test_the_doctor_looks_at_the_keys_database_too(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        found = {finding.topic: finding for finding in one.admin.keys.place.findings()}
    assert {"keys schema", "keys rights", "keys row-level security", "keys indexes"} <= found.keys()
    assert [topic for topic, one in found.items() if one.severity == "problem"] == []
    assert "whose base backups have both the rows and their keys" in found["keys place"].words
