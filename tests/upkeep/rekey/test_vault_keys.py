"""A vault gets a new key: everything in it stays, the old key opens nothing of it, and nobody can get in between."""

import shutil
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, KeyProblem, NotFound, StorageError, WrongKey
from recollectum.home.paths import Home
from recollectum.storage.page_recoding import is_opened_by
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.files import log_of
from recollectum.storage.sqlite.integrity import tables_of
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.upkeep.rekey.vault_keys import preview_vaults, rekey_vaults
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, BEN, fill, filled, opening, said


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _open(place: Path, encryption: str = "auto") -> Recollectum:
    return open_home(place, Turning(), encryption=encryption)


def _rows(path: Path, key: bytes) -> Mapping[str, Sequence[tuple[object, ...]]]:
    """Every row of every table."""
    with closing(connect(path, key=key)) as connection:
        names = [name for name, _ in tables_of(connection)]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}


def _key(home: Recollectum, owner: str) -> bytes:
    return home.encryption().key(file_of(home, owner).stem)


def _bytes_of(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file())


def _purge_one(vault: Vault) -> None:
    request = PurgeRequest.memories(vault.memories.save("a thing to erase for good").memory.id)
    assert vault.privacy.purge.run(vault.privacy.purge.preview(request).token).state is PurgeState.DONE


@pytest.mark.process
def test_everything_in_the_vault_stays_and_the_old_key_is_nowhere(place: Path) -> None:
    with filled(place) as home:
        vault = home.vault(ANN)
        _purge_one(vault)
        forgotten = vault.memories.save("a thing to forget").memory
        vault.memories.forget(forgotten.id)
        old, other = _key(home, ANN), _key(home, BEN)
        path = file_of(home, ANN)
        receipts, hits = home.receipts.list(), [hit.text for hit in vault.recall("tea with milk")]
    rows = _rows(path, old)
    with _open(place) as home:
        done = rekey_vaults(home.admin, [Owner.parse(ANN)])
        assert [str(owner) for owner in done.owners] == [ANN]
        new = _key(home, ANN)
        assert new != old
        assert _key(home, BEN) == other
    assert _rows(path, new) == rows
    with pytest.raises(WrongKey):
        connect(path, key=old)
    found = _bytes_of(place)
    assert old not in found
    assert old.hex().encode() not in found
    with _open(place) as home:
        vault = home.vault(ANN)
        assert [hit.text for hit in vault.recall("tea with milk")] == hits
        assert home.receipts.list() == receipts
        assert [home.receipts.verify(one) for one in receipts] == [True] * len(receipts)
        vault.privacy.undo.last()
        assert vault.memories.get(forgotten.id).content == "a thing to forget"
        assert vault.admin.index.verify().sound


def test_every_vault_gets_a_key_while_the_home_is_open_and_goes_on(place: Path) -> None:
    with filled(place) as home:
        held, before = home.vault(ANN), [said(home.vault(owner)) for owner in (ANN, BEN)]
        old = [_key(home, owner) for owner in (ANN, BEN)]
        rekey_vaults(home.admin)
        assert not {*old} & {_key(home, owner) for owner in (ANN, BEN)}
        assert [said(home.vault(owner)) for owner in (ANN, BEN)] == before
        held.memories.save("written by a handle from before")
        assert not home.encryption().has_unfinished()


def test_a_home_that_is_not_encrypted_is_refused_with_the_cure(place: Path) -> None:
    with filled(place, encryption="off", owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        for act in (preview_vaults, rekey_vaults):
            with pytest.raises(KeyProblem, match=r"not encrypted.*restore BACKUP --encrypt --into HOME"):
                act(home.admin)
        assert said(home.vault(ANN)) == before


def test_a_plain_vault_of_an_encrypted_home_is_left_or_refused_when_named(place: Path) -> None:
    with _open(place) as home:
        fill(home.vault(ANN), 20)
    with _open(place, "off") as home:
        fill(home.vault(BEN), 20)
        plain = file_of(home, BEN).read_bytes()
        with pytest.raises(KeyProblem, match="the vault of user:ben is not encrypted"):
            rekey_vaults(home.admin, [Owner.parse(BEN)])
        done = rekey_vaults(home.admin)
        assert [str(owner) for owner in (*done.owners, *done.plain)] == [ANN, BEN]
        assert file_of(home, BEN).read_bytes()[:100] == plain[:100]


def test_a_vault_that_others_have_open_keeps_its_key(place: Path) -> None:
    with filled(place) as home, _open(place) as other:
        other.vault(BEN).admin.totals()
        before = [_key(home, owner) for owner in (ANN, BEN)]
        with pytest.raises(Busy, match=r"has the vault of user:ben open.*daemon stop"):
            rekey_vaults(home.admin)
        assert [_key(home, owner) for owner in (ANN, BEN)] == before
        assert not home.encryption().has_unfinished()
        other.vault(BEN).memories.save("written meanwhile")
        assert rekey_vaults(home.admin, [Owner.parse(ANN)]).owners == (Owner.parse(ANN),)


def test_who_opens_the_vault_meanwhile_waits_and_loses_no_write(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home, _open(place) as other:
        writer = threading.Thread(target=lambda: other.vault(ANN).memories.save("written meanwhile"))

        def in_the_middle(_: int) -> None:
            if writer.ident is None:
                writer.start()
                # Until it waits for us; with no such wait it would write into a file that is about to be replaced.
                while "settled_key" not in _functions_of(writer):
                    assert writer.is_alive()

        rekey_vaults(home.admin, progress=in_the_middle)
        writer.join()
        assert "written meanwhile" in said(home.vault(ANN))[0]


def _functions_of(thread: threading.Thread) -> list[str]:
    frame = sys._current_frames().get(thread.ident or 0)  # pyright: ignore[reportPrivateUsage]
    return [one.name for one in traceback.extract_stack(frame)] if frame else []


def test_an_unknown_owner_and_a_missing_file_are_refused(place: Path) -> None:
    with filled(place) as home:
        with pytest.raises(NotFound, match="user:zoe"):
            rekey_vaults(home.admin, [Owner.parse("user:zoe")])
        path = file_of(home, BEN)
    path.unlink()
    with _open(place) as home:
        with pytest.raises(StorageError, match="user:ben is missing"):
            rekey_vaults(home.admin)
        assert not path.exists()
        assert not home.encryption().has_unfinished()


def test_backups_from_before_are_restored_as_before(place: Path) -> None:
    with filled(place) as home:
        before = said(home.vault(ANN))
        folder = back_up(home.admin).path
        archive = back_up(home.admin, to=home.home.backups / "packed.tar").path
        assert preview_vaults(home.admin).backups == tuple(sorted((archive, folder)))
        rekey_vaults(home.admin)
        home.vault(ANN).memories.save("written after the change")
        restore_vaults(home.admin, folder, opening(place), owners=[Owner.parse(ANN)], replace=True)
        assert said(home.vault(ANN)) == before
    for backup in (folder, archive):
        restore_home(Home(place / backup.stem / "home"), backup, opening(place))
        shutil.copytree(place / "config", place / backup.stem / "config")
        with _open(place / backup.stem) as again:
            assert said(again.vault(ANN)) == before


@pytest.mark.process
def test_a_purge_after_the_change_is_proven_in_spite_of_older_backups(place: Path) -> None:
    with filled(place) as home:
        back_up(home.admin)
        back_up(home.admin, to=home.home.backups / "packed.tar")
        rekey_vaults(home.admin)
        for owner in (BEN, ANN):
            _purge_one(home.vault(owner))


def test_copies_in_the_home_open_with_the_new_key_however_damaged(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        path, old, backups = file_of(home, ANN), _key(home, ANN), home.home.backups
        migrated = backups / f"{path.stem}-0001-first-20260301T120000.db"
        aside = backups / f"aside-{path.stem}-20260301T120000Z"
        aside.mkdir()
        home.vault(ANN).memories.save("this is in the log only")
        shutil.copyfile(log_of(path), log_of(aside / path.name))
        shutil.copyfile(path, aside / path.name)
    raw = path.read_bytes()
    migrated.write_bytes(raw)
    spoilt = bytearray(raw)
    spoilt[len(spoilt) // 2] ^= 1
    (aside / "evidence.db").write_bytes(spoilt)
    rows = _rows(path, old)
    with _open(place) as home:
        assert len(preview_vaults(home.admin).copies) == 3
        rekey_vaults(home.admin)
        new = _key(home, ANN)
    assert _rows(migrated, new) == rows
    # The log beside it is applied too, so its frames are under the new key and have right checksums.
    assert any("this is in the log only" in map(str, row) for row in _rows(aside / path.name, new)["memories"])
    assert not is_opened_by(migrated, old)


def test_a_person_who_is_erased_meanwhile_leaves_no_next_key(place: Path) -> None:
    with filled(place) as home:
        keys, path = home.encryption(), file_of(home, BEN)
        keys.add_next_key(path.stem)
        keys.destroy_key(path.stem)
        assert keys.find_next_key(path.stem) is None
