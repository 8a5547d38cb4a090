"""Finds or creates the key that seals credentials.json."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from recollectum.domain.errors import KeyProblem, WrongKey
from recollectum.home.credentials.register import KeySource, Register
from recollectum.home.keys import key_file
from recollectum.home.keys.holders import KeyHolder
from recollectum.home.keys.wrapping import MasterKey, unwrap, wrap

#: The name of our key beside those of the vaults.
KEY_NAME = "credentials"
_PROOF = b"recollectum"


class KeyStorePort(Protocol):
    """The part of the home's key store that is used here."""

    @property
    def enabled(self) -> bool:
        """Whether the home is encrypted."""
        ...

    def holder(self) -> KeyHolder:
        """Return who holds the master key."""
        ...

    def has_key(self, vault_id: str) -> bool:
        """Return whether there is a key with that name."""
        ...

    def key(self, vault_id: str) -> bytes:
        """Return the key with that name."""
        ...

    def make_key(self, vault_id: str) -> bytes:
        """Create a random key with that name."""
        ...


class FileKey:
    """Finds or creates the key of one register; called under the lock of the credentials."""

    def __init__(self, home: Path, keys: KeyStorePort, environ: Mapping[str, str]) -> None:
        self._home = home
        self._keys = keys
        self._environ = environ

    def ensure(self, register: Register) -> tuple[Register, bytes]:
        """Return the key, created if there is none, and the register that records where it is."""
        if register.source is not None:
            return register, self.fetch(register)
        source = KeySource.HOME if self._keys.enabled else KeySource.KEY_FILE
        if source is KeySource.HOME:
            known = self._keys.has_key(KEY_NAME)
            key = self._keys.key(KEY_NAME) if known else self._keys.make_key(KEY_NAME)
        else:
            place = key_file.place("", _name(register), self._environ)
            # A key that exists already is from an interrupted creation.
            master = key_file.find(place.path) or MasterKey.new()
            key_file.keep(place, master, self._home)
            key = master.derive(KEY_NAME)
        return replace(register, source=source, proof=wrap(key, _PROOF, _label(register))), key

    def fetch(self, register: Register) -> bytes:
        """Return the key that sealed the records; raise an error that names its holder."""
        key = self._home_key() if register.source is KeySource.HOME else self._own_key(register)
        if unwrap(key, register.proof, _label(register)) != _PROOF:
            raise WrongKey(
                "the key that was found is not the one that sealed the credentials; "
                "restore credentials.json and its key from one backup, or set the credentials again"
            )
        return key

    def words(self, register: Register) -> str:
        """Return a sentence about who can open the file."""
        source = register.source or (KeySource.HOME if self._keys.enabled else KeySource.KEY_FILE)
        if source is KeySource.HOME:
            held = self._keys.holder().words if self._keys.enabled else "which is lost with keys.db"
            return f"its key is wrapped by the key of this home, {held}"
        # Before the first credential the file has no id yet.
        path = key_file.place("", _name(register), self._environ).path
        where = path if register.source else path.parent
        return (
            f"its key is in a file at {where}: a copy of the data without this file cannot be read; "
            "programs running as you can read it"
        )

    def _home_key(self) -> bytes:
        if not self._keys.enabled or not self._keys.has_key(KEY_NAME):
            raise KeyProblem(
                "the credentials are sealed by a key in keys.db, which does not have it; "
                "restore keys.db from a backup, or move credentials.json away and set the credentials again"
            )
        return self._keys.key(KEY_NAME)

    def _own_key(self, register: Register) -> bytes:
        path = key_file.place("", _name(register), self._environ).path
        master = key_file.find(path)
        if master is None:
            raise KeyProblem(
                f"the key of the credentials is held in the file {path}, which is not there; "
                "restore it, or move credentials.json away and set the credentials again"
            )
        return master.derive(KEY_NAME)


def _name(register: Register) -> str:
    return f"credentials-{register.id}"


def _label(register: Register) -> str:
    return f"credentials proof v1 {register.id}"
