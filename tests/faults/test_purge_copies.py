"""What a purge does to the copies of a vault: those put aside, those in backups, and those that are restored later."""

import json
import shutil
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict
from recollectum.home.paths import Home
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.repair import repair
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.vault.purge.request import PurgeRequest, PurgeState, Receipt
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.search_program import SearchQuestion, search
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.crashes.programs import run
from tests.upkeep.homes import opening

pytestmark = [pytest.mark.process, pytest.mark.slow]

_SECRET = "wqzkvbtrnx"
_KEPT = "mnbvcxzqwr"
_PLAIN: dict[str, object] = {"encryption": "off", "storage.reserve_mib": 0}
_ANN, _BEN = "user:ann", "user:ben"


def _hits(root: Path, *words: str) -> set[str]:
    return {line.partition(" ")[0] for line in run("tests.faults.grepping_program", str(root), *words)}


def _talk(vault: Vault, word: str, channel: str = "home") -> str:
    chat = vault.sessions.open(channel=channel)
    chat.add("user", f"this says {word} to {channel}")
    return chat.id


def _purge(vault: Vault, request: PurgeRequest) -> Receipt:
    return vault.privacy.purge.run(vault.privacy.purge.preview(request).token)


@pytest.mark.feature("P9")
def test_what_a_repair_put_aside_goes_too(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        gone = _talk(home.vault(_ANN), _SECRET)
        _talk(home.vault(_BEN), _KEPT)
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        evidence = repair(home.admin, Owner.parse(_ANN), force=True).evidence
        other = repair(home.admin, Owner.parse(_BEN), force=True).evidence
    assert evidence
    assert other
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        assert vault.privacy.purge.preview(PurgeRequest.sessions(gone)).backups == (evidence.name,)
        receipt = _purge(vault, PurgeRequest.sessions(gone))
        assert (receipt.state, receipt.hits, receipt.backups_destroyed) == (PurgeState.DONE, 0, 1)
    assert not evidence.exists()
    assert other.exists()
    assert _hits(tmp_path, _SECRET, _KEPT) == {_KEPT}


@pytest.mark.feature("P9")
@pytest.mark.parametrize("encryption", ["off", "auto"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_backup_stays_good_for_those_who_were_not_erased(tmp_path: Path, encryption: str, *, whole: bool) -> None:
    settings = {**_PLAIN, "encryption": encryption}
    root = tmp_path / "home"
    with Recollectum(root, settings=settings) as home:
        gone = _talk(home.vault(_ANN), _SECRET)
        _talk(home.vault(_BEN), _KEPT)
        made = back_up(home.admin).path
        (ann,) = home.admin.entries([Owner.parse(_ANN)])
        receipt = _purge(home.vault(_ANN), PurgeRequest.user() if whole else PurgeRequest.sessions(gone))
        assert receipt.state is PurgeState.DONE
        left = {part["file"] for part in json.loads((made / "manifest.json").read_bytes())["parts"]}
        assert f"vaults/{ann.id}.db" not in left
        assert "catalog.db" in left
        home.vault(_BEN).sessions.delete(home.vault(_BEN).sessions.list()[0].id)
        done = restore_vaults(home.admin, made, opening(tmp_path), owners=[Owner.parse(_BEN)], replace=True)
        assert [str(one) for one in done.owners] == [_BEN]
        assert [one.text for one in home.vault(_BEN).recall(_KEPT)]
        assert all(one.exists() for one in done.kept)
    if encryption == "auto":
        assert _keys(made / "keys.db", ann.id) is not whole
    elif whole:
        assert _hits(root, _ANN, _SECRET) == set()
    # And a whole home comes back from it, in which those who were not erased have everything.
    restore_home(Home(tmp_path / "again"), made, opening(root))
    with Recollectum(tmp_path / "again", settings=settings) as home:
        assert [one.text for one in home.vault(_BEN).recall(_KEPT)]
        assert (_ANN in [str(one) for one in home.list_owners()]) is not whole
        assert ([str(one.owner) for one in home.people.list()] == [_BEN]) is whole


def _keys(path: Path, vault_id: str) -> bool:
    database = SqliteDatabase(path, SqliteOptions(readers=1))
    try:
        found = database.read(lambda tx: tx.rows("SELECT 1 FROM vault_keys WHERE vault_id = :id", {"id": vault_id}))
    finally:
        database.close()
    return bool(found)


@pytest.mark.feature("P9")
@pytest.mark.parametrize("whole", [False, True])
def test_a_backup_in_one_file_keeps_everybody_else(tmp_path: Path, *, whole: bool) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        gone = _talk(home.vault(_ANN), _SECRET)
        _talk(home.vault(_BEN), _KEPT)
        archive, other = home.home.backups / "all.tar", home.home.backups / "ben.tar"
        back_up(home.admin, to=archive)
        back_up(home.admin, to=other, owners=[Owner.parse(_BEN)])
        alone = home.home.backups / "ann.tar"
        back_up(home.admin, to=alone, owners=[Owner.parse(_ANN)])
        receipt = _purge(home.vault(_ANN), PurgeRequest.user() if whole else PurgeRequest.sessions(gone))
        assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0), receipt
        assert (archive.exists(), other.exists(), alone.exists()) == (True, True, False)
    assert _hits(tmp_path, _SECRET) == set()
    restore_home(Home(tmp_path / "again"), archive, opening(tmp_path))
    with Recollectum(tmp_path / "again", settings=_PLAIN) as home:
        assert [one.text for one in home.vault(_BEN).recall(_KEPT)]
        assert (_ANN in [str(one) for one in home.list_owners()]) is not whole


@pytest.mark.feature("M9")
def test_a_person_who_was_erased_does_not_come_back_with_a_backup(tmp_path: Path) -> None:
    root = tmp_path / "home"
    with Recollectum(root, settings=_PLAIN) as home:
        _talk(home.vault(_ANN), _SECRET)
        _talk(home.vault(_BEN), _KEPT)
        made = back_up(home.admin, to=tmp_path / "stick").path
        _purge(home.vault(_ANN), PurgeRequest.user())
        with pytest.raises(Conflict, match="user:ann was erased from this home after"):
            restore_vaults(home.admin, made, opening(tmp_path), owners=[Owner.parse(_ANN)])
        done = restore_vaults(home.admin, made, opening(tmp_path), replace=True)
        assert ([str(one) for one in done.owners], [str(one) for one in done.erased]) == ([_BEN], [_ANN])
        assert [str(one) for one in home.list_owners()] == [_BEN]
        # Who begins anew under the same name does not get the old life back either.
        home.vault(_ANN)
        again = restore_vaults(home.admin, made, opening(tmp_path), replace=True)
        assert [str(one) for one in again.erased] == [_ANN]
        assert home.vault(_ANN).admin.totals().messages == 0
    assert _hits(root, _SECRET) == set()


@pytest.mark.feature("M9")
def test_a_restored_vault_is_not_served_before_what_was_erased_is_gone_again(tmp_path: Path) -> None:
    root = tmp_path / "home"
    with Recollectum(root, settings=_PLAIN) as home, Recollectum(root, settings=_PLAIN) as other:
        vault = home.vault(_ANN)
        _talk(vault, _KEPT, "work")
        gone = _talk(vault, _SECRET)
        made = back_up(home.admin, to=tmp_path / "stick").path
        _purge(vault, PurgeRequest.sessions(gone))
        assert other.vault(_ANN).recall(_SECRET) == []
        done = restore_vaults(home.admin, made, opening(tmp_path), replace=True)
        # Neither here nor in a program that has had it open all the while.
        for view in (vault, home.vault(_ANN), other.vault(_ANN)):
            assert view.recall(_SECRET) == []
            assert view.recall(_KEPT) != []
        # What was there before the restore was clean, and is kept as the operator was told.
        (kept,) = done.kept
        assert list(kept.glob("vaults/*.db"))
        assert restore_vaults(home.admin, kept, opening(tmp_path), replace=True).owners
        assert home.vault(_ANN).recall(_KEPT) != []
    assert _hits(root, _SECRET, _KEPT) == {_KEPT}


def test_a_purge_that_goes_on_remembers_which_backups_it_destroyed(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "storage.busy_timeout_seconds": 0.2}) as home:
        vault = home.vault(_ANN)
        gone = _talk(vault, _SECRET)
        back_up(home.admin)
        path = file_of(home, _ANN)
        assert path
        reader = SqliteDatabase(path, SqliteOptions())
        receipts: list[Receipt] = []
        reader.read(lambda tx: (tx.rows("SELECT 1 FROM messages", {}), receipts.append(_purge_held(vault, gone))))
        reader.close()
        (pending,) = receipts
        assert (pending.state, pending.backups_destroyed) == (PurgeState.PENDING, 1)
        (done,) = vault.privacy.purge.finish()
        assert (done.state, done.backups_destroyed) == (PurgeState.DONE, 1)


def _purge_held(vault: Vault, session_id: str) -> Receipt:
    return _purge(vault, PurgeRequest.sessions(session_id))


@pytest.mark.feature("P9")
def test_the_search_looks_behind_links_and_comes_to_an_end(tmp_path: Path) -> None:
    root, disk = tmp_path / "home", tmp_path / "disk"
    disk.mkdir()
    root.mkdir()
    (disk / "one.db").write_text(f"it says {_SECRET}")
    (tmp_path / "two.db").write_text(f"it says {_SECRET} too")
    (root / "vaults").symlink_to(disk)
    (root / "two.db").symlink_to(tmp_path / "two.db")
    (disk / "around").symlink_to(root)
    (root / "nowhere").symlink_to(tmp_path / "none")
    found = search(SearchQuestion(root=root, needles=[_SECRET.encode()]))
    assert (found.files, found.hits) == (2, [(0, "two.db"), (0, "vaults/one.db")])


@pytest.mark.feature("P9")
def test_a_home_behind_a_link_is_searched_to_the_last_file(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "real", settings=_PLAIN) as home:
        home.vault(_ANN)
    shutil.move(tmp_path / "real/vaults", tmp_path / "disk")
    (tmp_path / "real/vaults").symlink_to(tmp_path / "disk")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        gone = _talk(vault, _SECRET)
        # A copy that nobody knows of, which only the search can find.
        (tmp_path / "disk/copy.txt").write_text(f"this says {_SECRET} to home")
        receipt = _purge(vault, PurgeRequest.sessions(gone))
        assert (receipt.state, receipt.hit_files) == (PurgeState.FAILED, ("vaults/copy.txt",))


@pytest.mark.feature("P9")
def test_words_that_json_spells_otherwise_are_found_too() -> None:
    needles = ErasureSamples()
    needles.take("das Wort heißt Übergröße")
    stored = json.dumps({"text": "das Wort heißt Übergröße"}).encode()
    assert any(one in stored for one in needles.encoded())
    places = range(len(needles.encoded()))
    assert [needles.is_term(place) for place in places].count(True) == len(needles.terms)
    assert all(needles.at(place) == needles.texts[0] for place in places if not needles.is_term(place))
