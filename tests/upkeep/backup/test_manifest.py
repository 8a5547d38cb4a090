"""A manifest is authenticated by the home's key, and a forged or hostile one is refused in one sentence."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Damaged, NotFound
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.copies import describe_copy, manifest_mac, recode_copy
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.manifest_file import NAME, digest
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.vault.purge.request import PurgeRequest
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, BEN, filled, opening, said

pytestmark = pytest.mark.process


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _change(backup: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads((backup / NAME).read_text())
    change(document)
    (backup / NAME).write_text(json.dumps(document))


def _made(place: Path, encryption: str = "auto") -> Path:
    with filled(place, encryption=encryption, owners=(ANN,)) as home:
        return back_up(home.admin, to=place / "stick").path


_FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "time": lambda it: it.update(made_at="2020-01-01T00:00:00+00:00"),
    "part": lambda it: it["parts"].pop(),
    "schema": lambda it: it["parts"][1].update(schema=1),
    "whole": lambda it: it.update(whole=False),
    "mac": lambda it: it.update(mac="00" * 32),
    "no mac": lambda it: it.pop("mac"),
}


@pytest.mark.parametrize("how", sorted(_FORGERIES))
def test_a_manifest_that_was_changed_is_refused(place: Path, how: str) -> None:
    made = _made(place)
    _change(made, _FORGERIES[how])
    with pytest.raises(Damaged, match="use another backup"):
        restore_home(Home(place / "new"), made, opening(place))
    assert not (place / "new" / "catalog.db").exists()


def test_a_backup_is_authenticated_also_elsewhere_with_the_recovery_code(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        code = home.encryption().new_recovery_code()
        made = back_up(home.admin, to=place / "stick").path
    (place / "config").rename(place / "gone")
    assert restore_home(Home(place / "new"), made, opening(place, recovery_code=code)).authenticated
    _change(made, _FORGERIES["schema"])
    with pytest.raises(Damaged, match="does not belong to it"):
        restore_home(Home(place / "newer"), made, opening(place, recovery_code=code))


def test_a_plain_backup_is_not_called_authenticated_and_an_encrypted_home_takes_it_only_when_told_to(
    place: Path,
) -> None:
    plain = _made(place / "plain", "off")
    # A code that nobody can verify proves nothing.
    _change(plain, lambda it: it.update(mac="00" * 32))
    with pytest.raises(Conflict, match=r"is not authenticated.*add --unauthenticated"):
        restore_home(Home(place / "new"), plain, opening(place, unauthenticated=False))
    assert not (place / "new" / "catalog.db").exists()
    with filled(place, owners=(ANN,)) as home:
        with pytest.raises(Conflict, match=r"is not authenticated.*add --unauthenticated"):
            restore_vaults(home.admin, plain, opening(place, unauthenticated=False), replace=True)
        assert not restore_vaults(home.admin, plain, opening(place), replace=True).authenticated
    assert not restore_home(Home(place / "new"), plain, opening(place)).authenticated


def test_a_plain_home_takes_its_own_backup_without_being_told_to(place: Path) -> None:
    with filled(place, encryption="off", owners=(ANN,)) as home:
        made = back_up(home.admin, to=place / "stick").path
        done = restore_vaults(home.admin, made, opening(place, unauthenticated=False), replace=True)
        assert not done.authenticated
    chosen = replace(opening(place, unauthenticated=False), settings=Settings(encryption="off"))
    assert not restore_home(Home(place / "new"), made, chosen).authenticated


@pytest.mark.parametrize("form", [0, 1, None, "2"])
def test_no_other_form_than_the_present_one_is_read(place: Path, form: object) -> None:
    made = _made(place)
    _change(made, lambda it: (it.pop("mac"), it.update(recollectum_backup=form)))
    with pytest.raises(Damaged, match="cannot be read as the manifest of a backup"):
        restore_home(Home(place / "new"), made, opening(place))


def test_a_backup_that_a_purge_rewrote_is_still_authentic_and_a_forged_one_does_not_become_so(place: Path) -> None:
    with filled(place) as home:
        kept, forged = back_up(home.admin).path, back_up(home.admin).path
        _change(forged, _FORGERIES["schema"])
        vault = home.vault(BEN)
        memory = vault.memories.list(limit=1)[0].id
        vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory)).token)
        done = restore_vaults(home.admin, kept, opening(place), owners=[Owner.parse(ANN)], replace=True)
        assert done.authenticated
        with pytest.raises(Damaged, match="does not belong to it"):
            restore_vaults(home.admin, forged, opening(place), owners=[Owner.parse(ANN)], replace=True)


_NESTED = b'{"recollectum_backup":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
_HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "file": lambda it: it["parts"][1].update(file=["vaults"]),
    "path": lambda it: it["parts"][1].update(file="../catalog.db"),
    "place": lambda it: it["parts"][1].update(file="settings.toml"),
    "id": lambda it: it["parts"][1].update(vault_id="../x", file="vaults/../x.db"),
    "rows": lambda it: it["parts"][1].update(rows={"memories": [[]]}),
    "twice": lambda it: it["parts"].append(it["parts"][0]),
    "bytes": lambda it: it["parts"][1].update(bytes="many"),
    "parts": lambda it: it.update(parts=7),
    "entries": lambda it: it.update(parts=[[], "x"]),
    "time": lambda it: it.update(made_at=7),
    "naive": lambda it: it.update(made_at="2026-01-01T00:00:00"),
    "field": lambda it: it.update(more=1),
}


@pytest.mark.parametrize("how", ["nested", "pipe", "device", *sorted(_HOSTILE)])
def test_a_hostile_manifest_is_one_sentence(place: Path, how: str) -> None:
    made = _made(place)
    if how in _HOSTILE:
        _change(made, _HOSTILE[how])
    else:
        (made / NAME).unlink()
        match how:
            case "nested":
                (made / NAME).write_bytes(_NESTED)
            case "pipe":
                os.mkfifo(made / NAME)
            case _:
                (made / NAME).symlink_to("/dev/zero")
    with pytest.raises(Damaged, match="cannot be read as the manifest of a backup"):
        restore_home(Home(place / "new"), made, opening(place))
    assert not (place / "new").exists()


@pytest.mark.parametrize("target", ["pipe", "device"])
def test_a_file_of_a_backup_that_is_none_is_refused_at_once(place: Path, target: str) -> None:
    made = _made(place)
    vault = next((made / "vaults").iterdir())
    vault.unlink()
    if target == "pipe":
        os.mkfifo(vault)
    else:
        vault.symlink_to("/dev/zero")
    with pytest.raises(Damaged, match="is not what was backed up"):
        restore_home(Home(place / "new"), made, opening(place))


def test_a_plain_vault_that_the_catalog_calls_encrypted_is_not_restored(place: Path) -> None:
    made = _made(place)
    with open_home(place, Turning(), encryption="auto") as home:
        key = home.encryption().key(home.admin.entries()[0].id)
        manifest_key = home.encryption().manifest_key()
    vault = next((made / "vaults").iterdir())
    recode_copy(vault, key, None)

    def forge(document: dict[str, Any]) -> None:
        document["parts"][1].update(encrypted=False, rows=dict(describe_copy(vault, None)[1]))
        document["parts"][1].update(bytes=vault.stat().st_size, sha256=digest(vault))
        # By somebody who has the key of the home.
        document["mac"] = manifest_mac(document, manifest_key)

    _change(made, forge)
    with pytest.raises(Damaged, match="is not the vault that the catalog of the backup names"):
        restore_home(Home(place / "new"), made, opening(place))
    assert not (place / "new" / "catalog.db").exists()


@pytest.mark.parametrize("how", [None, "encrypt", "decrypt"])
@pytest.mark.parametrize("kind", ["auto", "off"])
def test_a_whole_home_is_encrypted_or_decrypted_on_its_way_back(place: Path, kind: str, how: str | None) -> None:
    encrypted = None if how is None else how == "encrypt"
    with filled(place, encryption=kind) as home:
        before = {owner: said(home.vault(owner)) for owner in (ANN, BEN)}
        made = back_up(home.admin, to=place / "stick").path
    (place / "home").rename(place / "old")
    done = restore_home(Home(place / "home"), made, opening(place), encrypted=encrypted)
    wanted = kind == "auto" if encrypted is None else encrypted
    assert done.encrypted is wanted
    for path in (place / "home" / "catalog.db", *(place / "home" / "vaults").iterdir()):
        assert path.read_bytes().startswith(b"SQLite format 3") is not wanted, path
    with open_home(place, Turning(), encryption="auto" if wanted else "off") as home:
        assert {owner: said(home.vault(owner)) for owner in (ANN, BEN)} == before
        assert [entry.encrypted for entry in home.admin.entries()] == [wanted] * 2
        assert all(read_vault(home.admin, entry).sound for entry in home.admin.entries())
        assert home.encryption().enabled is wanted
        home.vault(ANN).memories.save("said afterwards")


def test_a_folder_with_backups_names_them(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        names = [back_up(home.admin, to=place / "stick").path.name for _ in range(2)]
        back_up(home.admin, to=place / "stick" / "ann.tar")
    with pytest.raises(NotFound, match=f"a folder of backups; name one of them: ann.tar, {names[0]}, {names[1]}"):
        restore_home(Home(place / "new"), place / "stick", opening(place))
