"""The first holder that works is chosen, the words claim no more than is true, and the key found is the right one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend

from recollectum.domain.errors import InvalidInput, KeyProblem, WrongKey
from recollectum.home.keys import key_file
from recollectum.home.keys.holders import (
    HolderKind,
    HolderOptions,
    choose,
    describe,
    drop,
    establish,
    fetch,
    keep,
    same_place,
)
from recollectum.home.keys.wrapping import MasterKey
from tests.home.keys.keyrings import DictKeyring, PlaintextKeyring

Use = Callable[[KeyringBackend], None]


@pytest.fixture
def means(tmp_path: Path) -> HolderOptions:
    home = tmp_path / "home"
    home.mkdir()
    return HolderOptions(home=home, home_id="home_a", environ={"XDG_CONFIG_HOME": str(tmp_path / "config")})


@pytest.fixture
def usual(means: HolderOptions) -> Path:
    return Path(means.environ["XDG_CONFIG_HOME"]) / "recollectum" / "keys" / "home_a.key"


def test_a_passphrase_that_was_given_is_meant(means: HolderOptions, use_keyring: Use) -> None:
    use_keyring(DictKeyring())
    record, _ = establish(replace(means, passphrase="correct horse"))
    assert record.kind is HolderKind.PASSPHRASE


def test_a_keyring_comes_before_a_key_file(means: HolderOptions, use_keyring: Use) -> None:
    use_keyring(DictKeyring())
    record, master = establish(means)
    assert record.kind is HolderKind.KEYRING
    assert fetch(record, means) == master
    words = "held by the operating system's keyring; other programs of your account can ask for it"
    assert describe(record, means, None).words == words


def test_a_passphrase_comes_before_a_key_file(means: HolderOptions, use_keyring: Use, usual: Path) -> None:
    use_keyring(PlaintextKeyring())
    given = replace(means, passphrase="correct horse")
    record, master = establish(given)
    assert record.kind is HolderKind.PASSPHRASE
    assert fetch(record, given) == master
    assert "kept nowhere" in describe(record, given, None).words
    assert not usual.exists()


def test_a_key_file_is_the_last(means: HolderOptions, usual: Path) -> None:
    record, master = establish(means)
    assert record.kind is HolderKind.KEY_FILE
    assert fetch(record, means) == master == key_file.find(usual)
    found = describe(record, means, None)
    assert found.path == str(usual)
    assert found.words == (
        f"held in a file at {usual}: a copy of the data without this file cannot be read; "
        "programs running as you can read it"
    )


def test_where_no_holder_works_nothing_is_left_unencrypted_in_silence(means: HolderOptions, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("in the way")
    with pytest.raises(KeyProblem, match="set encryption to off"):
        establish(means)


def test_a_key_file_inside_the_home_is_refused(means: HolderOptions) -> None:
    with pytest.raises(InvalidInput, match="inside the data folder"):
        establish(replace(means, key_file=str(means.home / "my.key")))
    assert list(means.home.iterdir()) == []


def test_a_key_that_lies_ready_is_taken_and_not_called_ours(means: HolderOptions, tmp_path: Path) -> None:
    ready, path = MasterKey.new(), tmp_path / "provisioned.key"
    key_file.keep(key_file.KeyFile(path, named_for_home=False), ready, means.home)
    given = replace(means, key_file=str(path))
    record, master = establish(given)
    assert master == ready
    drop(record, given)
    assert path.exists()


def test_our_own_key_file_is_dropped(means: HolderOptions, usual: Path) -> None:
    record, _ = establish(means)
    drop(record, means)
    assert not usual.exists()


def test_a_moved_key_file_is_found_by_the_setting_and_a_wrong_setting_does_no_harm(
    means: HolderOptions, usual: Path, tmp_path: Path
) -> None:
    record, master = establish(means)
    moved = replace(means, key_file=str(tmp_path / "moved.key"))
    assert fetch(record, moved) == master
    usual.rename(tmp_path / "moved.key")
    assert fetch(record, moved) == master
    assert describe(record, moved, None).path == str(tmp_path / "moved.key")


def test_the_key_of_another_home_is_refused(means: HolderOptions, usual: Path) -> None:
    record, _ = establish(means)
    key_file.keep(key_file.KeyFile(usual, named_for_home=True), MasterKey.new(), means.home)
    with pytest.raises(WrongKey, match=rf"{usual} belongs to another home.*recollectum encryption recover"):
        fetch(record, means)


def test_for_a_key_that_exists_a_given_passphrase_is_meant(means: HolderOptions, use_keyring: Use) -> None:
    assert choose(means) is HolderKind.KEY_FILE
    use_keyring(DictKeyring())
    assert choose(means) is HolderKind.KEYRING
    assert choose(replace(means, passphrase="correct horse")) is HolderKind.PASSPHRASE


def test_a_key_cannot_be_given_to_nobody(means: HolderOptions) -> None:
    with pytest.raises(InvalidInput, match="no passphrase was given"):
        keep(HolderKind.PASSPHRASE, MasterKey.new(), means)
    with pytest.raises(InvalidInput, match="needs a holder"):
        keep(HolderKind.OFF, MasterKey.new(), means)


def test_two_places_are_told_apart(means: HolderOptions, tmp_path: Path) -> None:
    record, master = establish(means)
    elsewhere = keep(HolderKind.KEY_FILE, master, replace(means, key_file=str(tmp_path / "other.key")))
    assert same_place(record, record)
    assert not same_place(record, elsewhere)


def test_neither_the_passphrase_nor_the_key_is_shown(means: HolderOptions) -> None:
    given = replace(means, passphrase="correct horse")
    record, master = establish(given)
    for shown in (repr(given), repr(record), repr(describe(record, given, None))):
        assert "correct horse" not in shown
        assert master.to_text().partition(":")[2] not in shown
