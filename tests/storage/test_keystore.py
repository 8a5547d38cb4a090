"""keys.db gives each vault its own key, keeps what it acknowledged, and never makes a second set of keys."""

import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.domain.errors import Conflict, Damaged, KeyProblem, KeyStoreMissing, SchemaNewer, WrongKey
from recollectum.home.keys.holders import HolderKind
from recollectum.home.paths import Home, prepare
from recollectum.storage import key_tables
from recollectum.storage.keystore import KeyStore
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteTx
from recollectum.storage.sqlite.files import HomeFiles
from tests.storage.remains import left_in_keys

pytestmark = pytest.mark.process

_NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[KeyStore]:
    opened = _open(home)
    yield opened
    opened.close()


def _open(home: Home, *, passphrase: str | None = None, key_file: str = "") -> KeyStore:
    return KeyStore.open(
        home,
        encryption="auto",
        key_file=key_file,
        passphrase=passphrase,
        environ=os.environ,
        clock=lambda: _NOW,
    )


def _key_file(store: KeyStore) -> Path:
    path = store.holder().path
    assert path is not None
    return Path(path)


def test_each_vault_has_a_key_of_its_own_that_comes_back(home: Home, store: KeyStore) -> None:
    one, two = store.make_key("vlt_1"), store.make_key("vlt_2")
    assert len(one) == len(two) == 32
    assert one != two
    again = _open(home)
    assert (again.key("vlt_1"), again.key("vlt_2")) == (one, two)
    again.close()


def test_a_second_key_for_one_vault_is_refused(store: KeyStore) -> None:
    key = store.make_key("vlt_1")
    with pytest.raises(Conflict, match="vlt_1"):
        store.make_key("vlt_1")
    assert store.key("vlt_1") == key


def test_a_vault_without_a_key_is_named_with_the_cure(store: KeyStore) -> None:
    with pytest.raises(KeyProblem, match=r"no key for vault 'vlt_9'.*restore keys\.db"):
        store.key("vlt_9")


def test_a_destroyed_key_leaves_no_byte_behind(home: Home, store: KeyStore) -> None:
    for number in range(20):
        store.make_key(f"vlt_{number}")
    wrapped = _wrapped(home, "vlt_7")
    assert store.destroy_key("vlt_7")
    assert not store.destroy_key("vlt_7")
    with pytest.raises(KeyProblem):
        store.key("vlt_7")
    assert len(store.key("vlt_8")) == 32
    assert left_in_keys(home.root, wrapped[:12], wrapped[12:], b"vlt_7", b"vlt_8") == [False, False, False, True]


def test_a_key_is_destroyed_without_the_master_key(home: Home, store: KeyStore) -> None:
    store.make_key("vlt_1")
    _key_file(store).unlink()
    locked = _open(home)
    assert locked.destroy_key("vlt_1")
    locked.close()


def test_everything_in_the_home_is_private(home: Home, store: KeyStore) -> None:
    store.make_key("vlt_1")
    files = [HomeFiles(home).keys, *home.root.glob("keys.db-*"), _key_file(store)]
    assert len(files) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


def test_the_data_folder_the_host_and_the_account_do_not_give_the_key(
    home: Home, store: KeyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.make_key("vlt_1")
    store.close()
    stolen = Home(Path(shutil.copytree(home.root, tmp_path / "stolen")))
    # The key file's path is recorded, so it is taken away as it would be on another machine.
    key_folder = Path(os.environ["XDG_CONFIG_HOME"])
    key_folder.rename(tmp_path / "left behind")
    opened = _open(stolen)
    with pytest.raises(KeyProblem, match=r"held in the file .*\.key, which is not there"):
        opened.key("vlt_1")
    with pytest.raises(KeyProblem):
        opened.unlock()
    opened.close()
    secret = next((tmp_path / "left behind").rglob("*.key")).read_text().strip().partition(":")[2].encode()
    assert not any(secret in path.read_bytes() for path in stolen.root.rglob("*") if path.is_file())


def test_a_tampered_wrap_is_noticed(home: Home, store: KeyStore) -> None:
    store.make_key("vlt_1")
    wrapped = _wrapped(home, "vlt_1")
    _run(home, "UPDATE vault_keys SET wrapped = :value", wrapped[:-1] + bytes([wrapped[-1] ^ 1]))
    with pytest.raises(WrongKey, match="was changed"):
        store.key("vlt_1")


def test_a_wrap_relabelled_for_another_vault_is_noticed(home: Home, store: KeyStore) -> None:
    store.make_key("vlt_1")
    _run(home, "UPDATE vault_keys SET vault_id = :value", "vlt_2")
    with pytest.raises(WrongKey, match="belongs to another vault"):
        store.key("vlt_2")


@pytest.mark.parametrize("file", ["catalog.db", "vaults/vlt_1.db"])
def test_a_missing_key_store_is_not_replaced_while_encrypted_files_exist(
    home: Home, store: KeyStore, file: str
) -> None:
    connect(home.root / file, key=store.make_key("vlt_1")).close()
    store.close()
    for path in home.root.glob("keys.db*"):
        path.unlink()
    with pytest.raises(KeyStoreMissing, match=rf"{HomeFiles(home).keys} is missing.*restore keys\.db from a backup"):
        _open(home)
    assert not HomeFiles(home).keys.exists()
    HomeFiles(home).keys.touch()
    with pytest.raises(KeyStoreMissing):
        _open(home)


def test_a_home_with_plain_vaults_may_begin_to_encrypt(home: Home) -> None:
    prepare(home)
    plain = connect(HomeFiles(home).vault("vlt_1"))
    SqliteTx(plain).rows("CREATE TABLE t (x)", {})
    HomeFiles(home).vault("vlt_2").touch()
    opened = _open(home)
    assert opened.enabled
    opened.close()
    SqliteTx(plain).rows("INSERT INTO t VALUES (1)", {})
    plain.close()


def test_off_means_no_key_store_at_all(home: Home) -> None:
    opened = KeyStore.open(home, encryption="off", environ=os.environ)
    assert not opened.enabled
    assert (opened.holder().kind, opened.holder().words) == (HolderKind.OFF, "not encrypted")
    with pytest.raises(KeyProblem, match="encryption is off"):
        opened.make_key("vlt_1")
    assert not opened.destroy_key("vlt_1")
    opened.close()
    assert not home.root.exists()


def test_turning_encryption_off_later_does_not_lock_what_is_encrypted(home: Home, store: KeyStore) -> None:
    key = store.make_key("vlt_1")
    opened = KeyStore.open(home, encryption="off", environ=os.environ)
    assert opened.enabled
    assert opened.key("vlt_1") == key
    opened.close()


def test_the_recorded_holder_is_kept_when_a_passphrase_turns_up(home: Home, store: KeyStore) -> None:
    key = store.make_key("vlt_1")
    opened = _open(home, passphrase="correct horse")
    assert opened.holder().kind is HolderKind.KEY_FILE
    assert opened.key("vlt_1") == key
    opened.close()


def test_a_passphrase_opens_the_home_from_the_environment(home: Home) -> None:
    with_it = {**os.environ, "RECOLLECTUM_PASSPHRASE": "correct horse"}
    made = KeyStore.open(home, encryption="auto", environ=with_it)
    key = made.make_key("vlt_1")
    made.close()
    again = KeyStore.open(home, encryption="auto", environ=with_it)
    assert again.key("vlt_1") == key
    again.close()
    for environ, problem, words in (
        (os.environ, KeyProblem, "none was given"),
        ({**os.environ, "RECOLLECTUM_PASSPHRASE": "wrong"}, WrongKey, "is wrong"),
    ):
        locked = KeyStore.open(home, encryption="auto", environ=environ)
        with pytest.raises(problem, match=words):
            locked.make_key("vlt_2")
        locked.close()


def test_a_key_file_elsewhere_is_used_and_recorded(home: Home, tmp_path: Path) -> None:
    made = _open(home, key_file=str(tmp_path / "stick" / "my.key"))
    key = made.make_key("vlt_1")
    made.close()
    again = _open(home)
    assert again.holder().path == str(tmp_path / "stick" / "my.key")
    assert again.key("vlt_1") == key
    again.close()


def test_a_newer_key_store_is_refused_in_words(home: Home, store: KeyStore) -> None:
    _run(home, "PRAGMA user_version = 2")
    with pytest.raises(SchemaNewer, match=rf"{HomeFiles(home).keys} was written by a newer Recollectum"):
        _open(home)


def test_a_damaged_key_store_is_said_to_be_damaged_and_left_alone(home: Home) -> None:
    prepare(home)
    HomeFiles(home).keys.write_bytes(b"not a database at all" * 300)
    with pytest.raises(Damaged, match=str(HomeFiles(home).keys)):
        _open(home)
    assert HomeFiles(home).keys.read_bytes().startswith(b"not a database")


def test_a_record_that_makes_no_sense_is_damage(home: Home, store: KeyStore) -> None:
    _run(home, "UPDATE holder SET kind = :value", "somebody")
    with pytest.raises(Damaged, match=r"does not say who holds the key"):
        _open(home)


def test_closing_twice_does_nothing(home: Home) -> None:
    opened = _open(home)
    opened.close()
    opened.close()


def _wrapped(home: Home, vault_id: str) -> bytes:
    connection = connect(HomeFiles(home).keys)
    wrapped = key_tables.find_key(SqliteTx(connection), vault_id)
    connection.close()
    assert wrapped is not None
    return wrapped


def _run(home: Home, sql: str, value: str | bytes | None = None) -> None:
    connection = connect(HomeFiles(home).keys)
    SqliteTx(connection).rows(sql, {"value": value})
    connection.close()
