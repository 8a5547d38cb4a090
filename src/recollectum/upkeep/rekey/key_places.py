"""Moves the wrapped keys of a home from its file into a keys database, which several hosts share, or back."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import field

from recollectum.domain.errors import KeyProblem
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.records import dataclass
from recollectum.home.database_mark import KeysTarget
from recollectum.home.keys.holders import PASSPHRASE_VARIABLE, KeyHolder
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.engine import CATALOG
from recollectum.storage.key_database import KeyInputs
from recollectum.storage.key_tables import names_of_keys
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import has_key_file
from recollectum.storage.shared.choosing import keys_server
from recollectum.storage.shared.key_place import KeyPlace
from recollectum.storage.shared.keys_file import KeysFile


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysMoved:
    """The result of a move of keys."""

    #: How many keys there are: those of vaults, of the catalog and of the credentials.
    keys: int
    #: Where they are now.
    place: str
    holder: KeyHolder


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysMove:
    """A home whose keys are moved, and what its master key is found with."""

    home: Home
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock = system_clock

    def run(self, target: KeysTarget) -> KeysMoved:
        """Move the keys; every one is unwrapped before and after it, and the old place is emptied last."""
        server = keys_server(self.home, self.settings.storage, self.clock)
        # Imported here: it needs the driver, which the line above has found.
        from recollectum.storage.shared.key_moves import move_to_file, move_to_server  # noqa: PLC0415

        to_server = target is KeysTarget.DATABASE
        try:
            if to_server and not has_key_file(self.home):
                raise KeyProblem(
                    f"there is no {self._file().words} to move; see where the keys are: recollectum encryption status"
                )
            source = self._file() if to_server else server
            with self._opened(source) as store:
                key = store.key(CATALOG) if store.has_key(CATALOG) else None
                _check(store)
                if not to_server:
                    move_to_file(self.home, server, key, self.clock)
            if to_server:
                move_to_server(self.home, server, key, self.clock)
                server.open()
            with self._opened(server if to_server else self._file()) as store:
                return KeysMoved(keys=_check(store), place=store.place.words, holder=store.holder())
        finally:
            server.close()

    def _file(self) -> KeyPlace:
        return KeysFile(self.home, self.clock)

    @contextmanager
    def _opened(self, place: KeyPlace) -> Generator[KeyStore]:
        given = self.environ.get(PASSPHRASE_VARIABLE) or None
        offer = KeyInputs(key_file=self.settings.key_file, passphrase=given, environ=self.environ)
        if not place.open():
            raise KeyProblem(f"{place.words} has no keys; there is nothing to move")
        try:
            yield KeyStore(self.home, place, offer, self.clock)
        finally:
            if not place.is_shared:
                place.close()


def _check(store: KeyStore) -> int:
    """Unwrap every key, and return how many there are."""
    names = store.place.read(names_of_keys)
    if any(":" in name for name in names):
        raise KeyProblem(
            f"a change of keys in {store.place.words} is not finished; finish it first, by any command of the home "
            "that began it"
        )
    for name in names:
        store.key(name)
    return len(names)
