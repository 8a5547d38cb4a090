"""The key goes only into a keyring that keeps it secret, and comes back from the same one only."""

import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as FailKeyring
from keyring.backends.null import Keyring as NullKeyring

from recollectum.domain.errors import KeyProblem
from recollectum.home.keys.keyring_holder import available, drop, fetch_all, keep
from recollectum.home.keys.wrapping import MasterKey
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

pytestmark = pytest.mark.process

Use = Callable[[KeyringBackend], None]

_HOME = "home_a"
_MASTER = MasterKey.new()


def test_a_keyring_that_keeps_is_used_and_the_probe_leaves_nothing(use_keyring: Use) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    assert available()
    assert backend.entries == {}
    detail = keep(_HOME, _MASTER)
    assert fetch_all(_HOME, detail) == [_MASTER]
    assert list(backend.entries) == [("recollectum", _HOME)]
    drop(_HOME, detail)
    drop(_HOME, detail)
    assert backend.entries == {}


@pytest.mark.parametrize(
    "backend",
    [
        PlaintextKeyring(),
        PlaintextInDisguise(),
        WeakKeyring(),
        ForgetfulKeyring(),
        ClingingKeyring(),
        BrokenKeyring(),
        UnavailableKeyring(),
        NullKeyring(),
        FailKeyring(),
        Chain(),
        Chain(PlaintextKeyring(), NullKeyring()),
    ],
    ids=lambda backend: type(backend).__name__,
)
def test_a_keyring_that_cannot_be_trusted_is_refused(use_keyring: Use, backend: KeyringBackend) -> None:
    use_keyring(backend)
    assert not available()
    with pytest.raises(KeyProblem, match="no keyring of the operating system"):
        keep(_HOME, _MASTER)
    assert _MASTER.to_text() not in str(vars(backend))


def test_in_a_chain_the_key_goes_past_the_plaintext_member(use_keyring: Use) -> None:
    plain, good = PlaintextKeyring(), DictKeyring()
    use_keyring(Chain(plain, good))
    detail = keep(_HOME, _MASTER)
    assert detail["backend"] == f"{DictKeyring.__module__}.DictKeyring"
    assert plain.entries == {}
    assert fetch_all(_HOME, detail) == [_MASTER]


def test_another_keyring_than_the_recorded_one_is_named(use_keyring: Use) -> None:
    use_keyring(DictKeyring())
    detail = keep(_HOME, _MASTER)
    use_keyring(FailKeyring())
    with pytest.raises(
        KeyProblem, match=r"DictKeyring, which is not available \(found: none\).*recollectum encryption recover"
    ):
        fetch_all(_HOME, detail)


def test_an_entry_that_is_gone_is_named(use_keyring: Use) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    detail = keep(_HOME, _MASTER)
    backend.entries.clear()
    with pytest.raises(KeyProblem, match="has no entry recollectum/home_a"):
        fetch_all(_HOME, detail)


def test_an_entry_that_is_no_key_is_refused_without_quoting_it(use_keyring: Use) -> None:
    backend = DictKeyring()
    use_keyring(backend)
    detail = keep(_HOME, _MASTER)
    backend.entries["recollectum", _HOME] = "hunter2"
    with pytest.raises(KeyProblem, match="not a key of Recollectum") as raised:
        fetch_all(_HOME, detail)
    assert "hunter2" not in str(raised.value)


def test_a_keyring_that_fails_later_is_one_sentence_without_the_secret(use_keyring: Use) -> None:
    class Locked(DictKeyring):
        locked = False

        def get_password(self, service: str, username: str) -> str | None:
            if self.locked:
                raise OSError(f"locked, and the entry is {self.entries[service, username]}")
            return super().get_password(service, username)

    backend = Locked()
    use_keyring(backend)
    detail = keep(_HOME, _MASTER)
    backend.locked = True
    with pytest.raises(KeyProblem, match="failed with OSError") as raised:
        fetch_all(_HOME, detail)
    assert _MASTER.to_text() not in repr(raised.value)
    assert raised.value.__suppress_context__


def test_keyring_settings_that_cannot_be_loaded_are_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no.such.Keyring")
    program = "from recollectum.home.keys.keyring_holder import available; print(available())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_the_package_there_is_no_keyring() -> None:
    program = (
        "import sys; sys.modules['keyring'] = None\n"
        "from recollectum.home.keys.keyring_holder import available; print(available())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


_REAL = """
from recollectum.home.keys.keyring_holder import available, drop, fetch_all, keep
from recollectum.home.keys.wrapping import MasterKey
assert available()
master = MasterKey.new()
detail = keep("home_a", master)
assert detail["backend"] == "keyring.backends.SecretService.Keyring", detail
assert fetch_all("home_a", detail) == [master]
drop("home_a", detail)
print("kept")
"""

# Defined only where it can run: a skipped test would claim a proof that was not made.
if shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon"):

    def test_the_real_secret_service_keeps_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
        script = 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" -c "$1"'
        command = ["dbus-run-session", "--", "sh", "-c", script, sys.executable, _REAL]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stdout.endswith("kept\n"), done.stderr
