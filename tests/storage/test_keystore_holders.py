"""The master key moves between holders and comes back by the recovery code; no step of it can lose the key."""

import base64
import os
import shutil
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import keyring
import pytest

from recollectum.domain.errors import InvalidInput, KeyProblem, RecollectumError, WrongKey
from recollectum.home.keys import key_file
from recollectum.home.keys.holders import HolderKind
from recollectum.home.paths import Home
from recollectum.storage import key_tables
from recollectum.storage.keystore import KeyStore
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteTx
from recollectum.storage.sqlite.files import HomeFiles
from tests.home.keys.keyrings import DictKeyring
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


@pytest.fixture
def backend() -> Iterator[DictKeyring]:
    before, ours = keyring.get_keyring(), DictKeyring()
    keyring.set_keyring(ours)
    yield ours
    keyring.set_keyring(before)


def _open(home: Home, passphrase: str | None = None) -> KeyStore:
    return KeyStore.open(home, encryption="auto", passphrase=passphrase, environ=os.environ, clock=lambda: _NOW)


def _opens(home: Home, vault_id: str, key: bytes, passphrase: str | None = None) -> bool:
    opened = _open(home, passphrase)
    try:
        return opened.key(vault_id) == key
    finally:
        opened.close()


def _key_file(store: KeyStore) -> Path:
    path = store.holder().path
    assert path is not None
    return Path(path)


def test_a_keyring_holds_a_whole_home(home: Home, backend: DictKeyring) -> None:
    made = _open(home)
    assert made.holder().kind is HolderKind.KEYRING
    key = made.make_key("vlt_1")
    made.close()
    assert len(backend.entries) == 1
    assert _opens(home, "vlt_1", key)
    backend.entries.clear()
    with pytest.raises(KeyProblem, match="which has no entry"):
        _opens(home, "vlt_1", key)


def test_the_key_moves_from_file_to_passphrase_and_the_file_is_gone(home: Home, store: KeyStore) -> None:
    key, path = store.make_key("vlt_1"), _key_file(store)
    assert store.hold_by(HolderKind.PASSPHRASE, passphrase="correct horse").kind is HolderKind.PASSPHRASE
    assert not path.exists()
    assert store.key("vlt_1") == key
    assert _opens(home, "vlt_1", key, "correct horse")


def test_a_changed_passphrase_replaces_the_old_one_without_trace(home: Home, store: KeyStore) -> None:
    key = store.make_key("vlt_1")
    store.hold_by(HolderKind.PASSPHRASE, passphrase="one two three")
    salt = _recorded_salt(home)
    assert left_in_keys(home.root, salt.encode()) == [True]
    store.hold_by(HolderKind.PASSPHRASE, passphrase="four five six")
    assert _opens(home, "vlt_1", key, "four five six")
    with pytest.raises(WrongKey):
        _opens(home, "vlt_1", key, "one two three")
    assert left_in_keys(home.root, salt.encode(), _recorded_salt(home).encode()) == [False, True]


def test_the_key_moves_into_the_keyring_and_out_again(home: Home, store: KeyStore, backend: DictKeyring) -> None:
    key = store.make_key("vlt_1")
    store.hold_by(HolderKind.KEYRING)
    assert len(backend.entries) == 1
    assert _opens(home, "vlt_1", key)
    store.hold_by(HolderKind.KEY_FILE)
    assert backend.entries == {}
    assert _opens(home, "vlt_1", key)


def test_a_move_that_fails_leaves_the_old_holder(home: Home, store: KeyStore) -> None:
    key, path = store.make_key("vlt_1"), _key_file(store)
    attempts = ((HolderKind.KEYRING, ""), (HolderKind.PASSPHRASE, ""), (HolderKind.KEY_FILE, str(home.root / "k")))
    for kind, place in attempts:
        with pytest.raises(RecollectumError):
            store.hold_by(kind, key_file=place)
    assert path.exists()
    assert store.holder().path == str(path)
    assert _opens(home, "vlt_1", key)


def test_a_key_file_moves_to_another_place(home: Home, store: KeyStore, tmp_path: Path) -> None:
    key, old = store.make_key("vlt_1"), _key_file(store)
    moved = store.hold_by(HolderKind.KEY_FILE, key_file=str(tmp_path / "stick" / "k"))
    assert moved.path == str(tmp_path / "stick" / "k")
    assert not old.exists()
    assert _opens(home, "vlt_1", key)


def test_a_recovery_code_brings_a_lost_key_file_back(home: Home, store: KeyStore) -> None:
    key, path = store.make_key("vlt_1"), _key_file(store)
    assert store.holder().recovery_code_made_at is None
    code = store.new_recovery_code()
    assert store.holder().recovery_code_made_at == _NOW
    store.close()
    path.unlink()
    shutil.rmtree(home.locks)
    lost = _open(home)
    with pytest.raises(KeyProblem):
        lost.key("vlt_1")
    assert lost.recover(code.lower().replace("-", " ")).path == str(path)
    assert lost.key("vlt_1") == key
    lost.close()
    assert _opens(home, "vlt_1", key)


def test_a_key_file_of_another_home_in_its_place_is_replaced_by_recovering(home: Home, store: KeyStore) -> None:
    key, path, code = store.make_key("vlt_1"), _key_file(store), store.new_recovery_code()
    store.close()
    path.write_text("overwritten by accident")
    lost = _open(home)
    with pytest.raises(WrongKey, match="not a key file"):
        lost.unlock()
    lost.recover(code)
    lost.close()
    assert _opens(home, "vlt_1", key)


def test_a_forgotten_passphrase_is_replaced(home: Home) -> None:
    made = _open(home, "forgotten soon")
    key, code = made.make_key("vlt_1"), made.new_recovery_code()
    made.close()
    lost = _open(home)
    assert lost.recover(code, passphrase="a new one").kind is HolderKind.PASSPHRASE
    lost.close()
    assert _opens(home, "vlt_1", key, "a new one")
    with pytest.raises(WrongKey):
        _opens(home, "vlt_1", key, "forgotten soon")


def test_a_slip_a_wrong_code_and_no_code_are_three_answers(home: Home, store: KeyStore) -> None:
    with pytest.raises(KeyProblem, match="no recovery code was made"):
        store.recover("anything")
    old, new = store.new_recovery_code(), store.new_recovery_code()
    with pytest.raises(WrongKey, match="newest code"):
        store.recover(old)
    with pytest.raises(InvalidInput, match="typing mistake"):
        store.recover(("1" if new[0] != "1" else "2") + new[1:])
    store.recover(new)


def test_the_code_itself_is_nowhere_in_the_home(home: Home, store: KeyStore) -> None:
    code = store.new_recovery_code()
    assert left_in_keys(home.root, code.encode(), code.replace("-", "").encode()) == [False, False]


def test_no_object_and_no_error_shows_a_key(home: Home, store: KeyStore, tmp_path: Path) -> None:
    master = _key_file(store).read_text().strip().partition(":")[2]
    key = store.make_key("vlt_1")
    other = tmp_path / "other.key"
    key_file.keep(key_file.KeyFile(other, named_for_home=False), key_file.fetch_all(_key_file(store))[0], home.root)
    other.chmod(0o644)
    code = store.new_recovery_code()
    given = _open(home, "correct horse")
    given.close()
    shown = [repr(store), repr(store.holder()), repr(vars(store)), repr(vars(given))]
    for attempt in (
        lambda: store.make_key("vlt_1"),
        lambda: store.key("vlt_2"),
        lambda: store.hold_by(HolderKind.KEYRING),
        lambda: store.hold_by(HolderKind.KEY_FILE, key_file=str(home.root / "k")),
        lambda: store.hold_by(HolderKind.OFF, passphrase="correct horse"),
        lambda: store.recover(code[:-1] + ("0" if code[-1] != "0" else "1"), passphrase="correct horse"),
        lambda: _unlock_by(home, other),
    ):
        with pytest.raises(RecollectumError) as raised:
            attempt()
        shown.append("".join(traceback.format_exception(raised.value)))
        shown.append(repr(raised.value))
    secrets = [base64.b64decode(master), key]
    forms = {form for secret in secrets for form in (secret.hex(), base64.b64encode(secret).decode(), repr(secret))}
    for text in shown:
        assert not [form for form in forms if form in text]
        assert code[:-2] not in text
        assert "correct horse" not in text.replace('passphrase="correct horse"', "")


def _unlock_by(home: Home, path: Path) -> None:
    opened = KeyStore.open(home, encryption="auto", key_file=str(path), environ=os.environ)
    try:
        opened.unlock()
    finally:
        opened.close()


def _recorded_salt(home: Home) -> str:
    connection = connect(HomeFiles(home).keys)
    record = key_tables.find_holder(SqliteTx(connection), str(HomeFiles(home).keys))
    connection.close()
    assert record is not None
    return str(record.detail["salt"])
