"""Moves the rows of keys between keys.db and a keys database; nothing is deleted before the copy was compared."""

from pathlib import Path

from recollectum.domain.errors import Busy, Conflict
from recollectum.domain.ids import Clock
from recollectum.home.database_mark import forget_keys, mark_keys
from recollectum.home.files import sync_folder, sync_path
from recollectum.home.paths import Home
from recollectum.storage.port import Tx
from recollectum.storage.shared.home_ledger import HomeLedger
from recollectum.storage.shared.key_place import CHANGES, HOLDERS
from recollectum.storage.shared.key_rows import KeyRows, add_rows, read_rows, remove_ledger, remove_rows
from recollectum.storage.shared.keys_file import KeysFile, read_keys_file, write_keys_file
from recollectum.storage.shared.keys_server import KeysServer
from recollectum.storage.sqlite.connection import is_only_connection
from recollectum.storage.sqlite.files import HomeFiles, remove

_UNFINISHED = ".recollectum-keys.unfinished"


def load_keys(server: KeysServer, rows: KeyRows) -> None:
    """Write keys into an empty keys database; do nothing when it has these very rows."""

    def fill(tx: Tx) -> KeyRows:
        if not any(found := read_rows(tx)):
            add_rows(tx, rows)
            return rows
        return found

    server.check_apart()
    if server.change(fill) != rows or server.change(read_rows) != rows:
        raise Conflict(
            f"{server.words} has other keys than those that are moved into it; name an empty keys database in "
            "storage.keys_url, or move the keys away that nobody needs"
        )


def move_to_server(home: Home, server: KeysServer, key: bytes | None, clock: Clock) -> None:
    """Move the keys of a home that nobody uses into its keys database, and delete the file; finish an earlier move."""
    file = HomeFiles(home).keys
    with server.lock(HOLDERS), server.lock(CHANGES):
        _check_unused(file)
        load_keys(server, read_keys_file(file))
        if home.erasures_file.exists():
            with server.ledger(key) as ledger:
                HomeLedger(home, KeysFile(home, clock), key, clock).sync(ledger)
        # From here on no program opens the file, whatever its settings are; one that has opened it since is noticed.
        mark_keys(home)
        _check_unused(file)
        load_keys(server, read_keys_file(file))
        remove(home.erasures_file)
        _shred(file)
        sync_folder(home.root)


def move_to_file(home: Home, server: KeysServer, key: bytes | None, clock: Clock) -> None:
    """Move the keys into the file keys.db of a home, and delete them from the keys database; finish an earlier move."""
    file, made = HomeFiles(home).keys, home.root / _UNFINISHED
    with server.lock(HOLDERS), server.lock(CHANGES):
        rows = server.read(read_rows)
        if not file.exists():
            remove(made)
            write_keys_file(made, rows)
            sync_path(made)
            made.replace(file)
            sync_folder(home.root)
        if read_keys_file(file) != rows:
            raise Conflict(f"{file} has other keys than {server.words}; move the file away if nobody needs it")
        with server.ledger(key) as ledger:
            HomeLedger(home, KeysFile(home, clock), key, clock).sync(ledger)

        def clear(tx: Tx) -> bool:
            is_same = read_rows(tx) == rows
            if is_same:
                remove_rows(tx)
                remove_ledger(tx)
            return is_same

        if not server.write(clear, frees=True):
            remove(file)
            raise Busy(f"another host has changed keys in {server.words} meanwhile; stop it, then try again")
        forget_keys(home)


def _check_unused(file: Path) -> None:
    if not is_only_connection(file, None):
        raise Busy(
            f"another program has {file} open; stop the programs that use this home "
            "(the daemon: recollectum daemon stop), then try again"
        )


def _shred(file: Path) -> None:
    """Overwrite a file and delete it: a key in it may be destroyed later, where its bytes would still be here."""
    with file.open("r+b") as opened:
        opened.write(bytes(file.stat().st_size))
    sync_path(file)
    remove(file)
