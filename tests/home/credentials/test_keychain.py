"""A keyring is used only when it keeps what it is given, and the file says no more than where a secret went."""

from collections.abc import Callable

import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as FailKeyring
from keyring.backends.null import Keyring as NullKeyring

from recollectum.domain.access.credential import CredentialKind, SecretLocation, ServiceApiKey
from recollectum.domain.errors import InvalidInput, KeyProblem, NotFound
from recollectum.home.credentials.store import Credentials
from recollectum.home.paths import Home
from tests.home.credentials.stores import CANARY, files_with, open_store, token
from tests.home.keys.keyrings import (
    BrokenKeyring,
    Chain,
    ClingingKeyring,
    DictKeyring,
    ForgetfulKeyring,
    PlaintextInDisguise,
    PlaintextKeyring,
    UnavailableKeyring,
    WeakKeyring,
)

Use = Callable[[KeyringBackend], None]
FORCE = "RECOLLECTUM_FORCE_FILE_CREDENTIALS"


@pytest.mark.feature("C6")
def test_a_keyring_that_passes_the_probe_holds_the_secret_and_the_home_does_not(
    use_keyring: Use, home: Home, store: Credentials
) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    assert store.save("X", ServiceApiKey(CANARY)).held is SecretLocation.KEYRING
    store.save("Y", token())
    assert store.find("X") == ServiceApiKey(CANARY)
    assert open_store(home).find("Y", kind=CredentialKind.OAUTH) == token()
    assert sum(CANARY in value for value in backend.entries.values()) == 2
    assert b'"sealed": ""' in (home.root / "credentials.json").read_bytes()
    assert files_with(home.root, CANARY) == []
    assert "other programs of your account can ask for it" in store.safety().words
    store.delete("X")
    store.delete("Y", kind=CredentialKind.OAUTH)
    assert backend.entries == {}


@pytest.mark.feature("C6")
@pytest.mark.parametrize(
    "backend",
    [
        *(PlaintextKeyring(), PlaintextInDisguise(), WeakKeyring(), ForgetfulKeyring(), ClingingKeyring()),
        *(BrokenKeyring(), UnavailableKeyring(), NullKeyring(), FailKeyring(), Chain(PlaintextKeyring())),
    ],
    ids=lambda backend: type(backend).__name__,
)
def test_a_keyring_that_cannot_be_trusted_gets_nothing(
    use_keyring: Use, store: Credentials, backend: KeyringBackend
) -> None:
    use_keyring(backend)
    assert store.save("X", ServiceApiKey(CANARY)).held is SecretLocation.FILE
    assert CANARY not in str(vars(backend))
    assert store.secret("X") == CANARY


@pytest.mark.feature("C6")
def test_the_variable_forces_the_file_and_moves_what_is_set_anew(use_keyring: Use, home: Home) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    open_store(home).save("X", ServiceApiKey("old"))
    store = open_store(home, **{FORCE: "1"})
    assert store.safety().forced
    assert store.safety().holder is SecretLocation.FILE
    assert store.secret("X") == "old"
    store.save("X", ServiceApiKey(CANARY))
    assert "old" not in str(backend.entries)
    assert CANARY not in str(backend.entries)
    assert open_store(home).secret("X") == CANARY
    assert not open_store(home, **{FORCE: "0"}).safety().forced
    with pytest.raises(InvalidInput, match="neither yes nor no"):
        open_store(home, **{FORCE: "perhaps"}).save("X", ServiceApiKey("y"))


def test_two_homes_share_a_keyring_and_not_their_secrets(use_keyring: Use, home: Home) -> None:
    use_keyring(DictKeyring())
    other = Home(home.root.parent / "other")
    open_store(home).save("X", ServiceApiKey("one"))
    open_store(other).save("X", ServiceApiKey("two"))
    assert (open_store(home).secret("X"), open_store(other).secret("X")) == ("one", "two")


def test_an_entry_that_is_gone_or_changed_is_said(use_keyring: Use, store: Credentials) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    store.save("X", ServiceApiKey(CANARY))
    (place,) = [place for place in backend.entries if place[0].startswith("recollectum credentials ")]
    backend.entries[place] = "hunter2"
    with pytest.raises(KeyProblem, match="something else in its place; set it again") as raised:
        store.find("X")
    assert "hunter2" not in str(raised.value)
    del backend.entries[place]
    with pytest.raises(KeyProblem, match="has no entry for it; set it again"):
        store.find("X")
    store.delete("X")
    assert store.find("X") is None


def test_what_a_save_that_was_cut_short_left_in_the_keyring_is_deleted_with_its_name(
    use_keyring: Use, home: Home, store: Credentials
) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    store.save("Y", ServiceApiKey("y"))
    before = (home.root / "credentials.json").read_bytes()
    store.save("X", ServiceApiKey(CANARY))
    # As after a kill between the keyring's entry and the file's line.
    (home.root / "credentials.json").write_bytes(before)
    assert store.find("X") is None
    store.delete("X")
    assert CANARY not in str(backend.entries)
    with pytest.raises(NotFound, match="there is no api_key 'X'"):
        store.delete("X")


def test_a_keyring_that_went_away_is_named(use_keyring: Use, store: Credentials) -> None:
    use_keyring(DictKeyring())
    store.save("X", ServiceApiKey(CANARY))
    use_keyring(FailKeyring())
    with pytest.raises(KeyProblem, match="DictKeyring, which is not available; unlock or reinstall it"):
        store.find("X")
    assert [one.held for one in store.all()] == [SecretLocation.KEYRING]


def test_a_keyring_that_fails_is_one_sentence_without_the_secret(use_keyring: Use, store: Credentials) -> None:
    class Full(DictKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            if CANARY in password:
                raise OSError(f"no room for {password}")
            self.entries[service, username] = password

    use_keyring(Full())
    with pytest.raises(KeyProblem, match=f"failed with OSError; unlock it, or set {FORCE}=1") as raised:
        store.save("X", ServiceApiKey(CANARY))
    assert CANARY not in repr(raised.value)
    assert store.find("X") is None
