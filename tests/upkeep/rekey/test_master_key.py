"""The home gets a new master key from whoever holds it, and the old one opens nothing in the home any more."""

import base64
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import keyring
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import KeyProblem, WrongKey
from recollectum.engine import open_keys
from recollectum.home.keys.wrapping import MasterKey
from recollectum.home.paths import Home
from recollectum.storage import key_tables
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteTx
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home
from recollectum.upkeep.rekey.master_key import preview_master, rekey_master
from tests.home.keys.keyrings import DictKeyring
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, filled, opening, said

_PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def backend() -> Iterator[DictKeyring]:
    before, ours = keyring.get_keyring(), DictKeyring()
    keyring.set_keyring(ours)
    yield ours
    keyring.set_keyring(before)


def _key_file(place: Path) -> Path:
    (path,) = (place / "config").rglob("*.key")
    return path


def _open(place: Path) -> Recollectum:
    return open_home(place, Turning(), encryption="auto")


def _secret(text: str) -> bytes:
    return base64.b64decode(text.strip().partition(":")[2])


def _wraps(place: Path) -> list[bytes]:
    connection = connect(HomeFiles(Home(place / "home")).keys)
    try:
        tx = SqliteTx(connection)
        return [key_tables.find_key(tx, name) or b"" for name in key_tables.names_of_keys(tx)]
    finally:
        connection.close()


def _bytes_of(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file())


def test_the_old_master_key_opens_nothing_and_is_nowhere(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        back_up(home.admin)
    old, wraps = _key_file(place).read_text(), _wraps(place)
    with _open(place) as home:
        done = rekey_master(home.admin)
        assert (done.recovery_code, done.left) == (None, ())
        assert said(home.vault(ANN)) == before
        home.vault("user:new").memories.save("the new key wraps the key of a new vault")
    found = _bytes_of(place)
    assert _secret(old) not in found
    assert old.strip().encode() not in found
    assert not [wrap for wrap in wraps if wrap in found]
    with _open(place) as home:
        assert said(home.vault(ANN)) == before
    new = _key_file(place).read_text()
    _key_file(place).write_text(old)
    with pytest.raises(WrongKey, match="belongs to another home"):
        _open(place)
    _key_file(place).write_text(new)
    _open(place).close()


@pytest.mark.slow
def test_a_passphrase_goes_on_opening_the_home_and_its_backups(place: Path) -> None:
    environ = {"HOME": str(place), "XDG_CONFIG_HOME": str(place / "config"), "RECOLLECTUM_PASSPHRASE": _PASSPHRASE}
    with Recollectum(place / "home", environ=environ) as home:
        home.vault(ANN).memories.save("held by a passphrase")
        made = back_up(home.admin)
        wraps = _wraps(place)
        rekey_master(home.admin)
    assert not {*wraps} & {*_wraps(place)}
    with Recollectum(place / "home", environ=environ) as home:
        assert home.encryption().holder().kind == "passphrase"
        assert said(home.vault(ANN)) == (["held by a passphrase"], 0, [])
    restored = restore_home(Home(place / "again"), made.path, replace(opening(place), passphrase=_PASSPHRASE))
    assert restored.authenticated


def test_a_keyring_holds_the_new_key_in_the_same_entry(place: Path, backend: DictKeyring) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        assert home.encryption().holder().kind == "keyring"
        (old,) = backend.entries.values()
        rekey_master(home.admin)
    (new,) = backend.entries.values()
    assert len(MasterKey.all_from_text(new)) == 1
    assert new != old
    with _open(place) as home:
        assert said(home.vault(ANN)) == before


def test_the_old_recovery_code_is_void_and_the_new_one_gets_the_key_back(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        old = home.encryption().new_recovery_code()
        assert preview_master(home.admin).renews_code
        code = rekey_master(home.admin).recovery_code
        assert code is not None
        made = back_up(home.admin)
    _key_file(place).unlink()
    environ = {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config")}
    keys = open_keys(place / "home", environ=environ)
    try:
        with pytest.raises(WrongKey, match="use the newest code"):
            keys.recover(old)
        keys.recover(code)
    finally:
        keys.close()
    with _open(place) as home:
        assert said(home.vault(ANN)) == before
    restore_home(Home(place / "again"), made.path, opening(place, recovery_code=code))


def test_backups_in_the_home_open_with_the_new_key_and_code_and_others_with_the_old_code(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        old = home.encryption().new_recovery_code()
        inside = [back_up(home.admin).path, back_up(home.admin, to=home.home.backups / "packed.tar").path]
        outside = back_up(home.admin, to=place / "stick").path
        (words,) = preview_master(home.admin).elsewhere
        assert str(outside) in words
        assert "opens only with the present recovery code or a copy of the key file" in words
        done = rekey_master(home.admin)
        assert done.backups == tuple(sorted(inside))
        code = done.recovery_code
    for number, backup in enumerate(inside):
        restored = restore_home(Home(place / f"{number}" / "home"), backup, opening(place))
        assert restored.authenticated
        shutil.copytree(place / "config", place / f"{number}" / "config")
        with _open(place / f"{number}") as again:
            assert said(again.vault(ANN)) == before
    shutil.rmtree(place / "config")
    assert restore_home(Home(place / "c" / "home"), inside[0], opening(place, recovery_code=code)).authenticated
    shutil.rmtree(place / "config")
    assert restore_home(Home(place / "d" / "home"), outside, opening(place, recovery_code=old)).authenticated


def test_a_process_that_has_the_home_open_goes_on_with_the_new_key(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home, _open(place) as other:
        other.vault(ANN).memories.save("before the change")
        rekey_master(home.admin)
        other.vault("user:new").memories.save("in a vault that is made with the new key")
        made = back_up(other.admin)
        code = other.encryption().new_recovery_code()
    with _open(place) as home:
        assert said(home.vault("user:new")) == (["in a vault that is made with the new key"], 0, [])
    assert restore_home(Home(place / "again" / "home"), made.path, opening(place)).authenticated
    _key_file(place).unlink()
    keys = open_keys(place / "home", environ={"HOME": str(place), "XDG_CONFIG_HOME": str(place / "config")})
    keys.recover(code)
    keys.close()


def test_a_backup_that_was_changed_or_is_another_homes_is_left_and_named(place: Path) -> None:
    with filled(place / "one", owners=(ANN,)) as other:
        foreign = back_up(other.admin).path
    with filled(place, owners=(ANN,)) as home:
        forged = back_up(home.admin).path
        document = json.loads((forged / "manifest.json").read_text())
        document["made_at"] = datetime.now().astimezone().isoformat()
        (forged / "manifest.json").write_text(json.dumps(document))
        shutil.copytree(foreign, home.home.backups / "foreign")
        before = [(path, path.read_bytes()) for path in home.home.backups.rglob("*") if path.is_file()]
        done = rekey_master(home.admin)
    assert done.backups == ()
    assert done.left == tuple(sorted((forged, home.home.backups / "foreign")))
    assert [(path, path.read_bytes()) for path, _ in before] == before


def test_a_key_file_that_other_homes_may_use_is_not_changed(place: Path) -> None:
    shared = place / "shared.key"
    environ = {"HOME": str(place), "XDG_CONFIG_HOME": str(place / "config")}
    homes = [
        Recollectum(place / name, environ=environ, settings={"key_file": str(shared), "embedding.provider": "none"})
        for name in ("first", "second")
    ]
    try:
        before = shared.read_bytes()
        with pytest.raises(KeyProblem, match=r"another home may use it.*encryption passphrase"):
            rekey_master(homes[1].admin)
        assert shared.read_bytes() == before
        assert not homes[1].encryption().has_unfinished()
        homes[1].vault(ANN).memories.save("still open")
    finally:
        for home in homes:
            home.close()


def test_a_home_that_is_not_encrypted_has_no_master_key(place: Path) -> None:
    with filled(place, encryption="off", owners=(ANN,)) as home:
        for act in (preview_master, rekey_master):
            with pytest.raises(KeyProblem, match=r"not encrypted.*--encrypt"):
                act(home.admin)


def test_a_key_file_that_is_not_there_changes_nothing(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        path = _key_file(place)
        before = path.read_bytes()
        home.encryption().unlock()
        moved = path.parent.rename(path.parent.with_name("moved"))
        with pytest.raises(KeyProblem):
            rekey_master(home.admin)
        moved.rename(path.parent)
        assert path.read_bytes() == before
        assert not home.encryption().has_unfinished()
    _open(place).close()
