"""Reads the copies in a backup: SQLite files under fixed names, whichever engine the home has."""

import hmac
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged
from recollectum.domain.ids import Clock
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, sync_folder, sync_path
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.key_renewal import MasterChange, rewrap
from recollectum.storage.key_tables import find_holder
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.backup import drop_keys
from recollectum.storage.sqlite.conversion import convert, page_bytes_of
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.sqlite.engine import SqliteEngine
from recollectum.storage.sqlite.files import (
    CATALOG_FILE,
    KEYS_FILE,
    is_database_name,
    is_vault_id,
    name_in_backup,
    remove,
)
from recollectum.storage.sqlite.files import remove as remove_database
from recollectum.storage.sqlite.migrate import shipped
from recollectum.storage.sqlite.upkeep import inspect_file
from recollectum.storage.tables.catalog import vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry

__all__ = [
    "KEYS_COPY",
    "MAC",
    "change_catalog",
    "check_copy",
    "copy_name",
    "describe_copy",
    "drop_keys",
    "entries_in",
    "is_authentic",
    "is_database_name",
    "is_vault_id",
    "manifest_mac",
    "mark_vaults",
    "newest_schema",
    "recode_copy",
    "remove_database",
    "rewrap_keys",
    "upgrade_catalog",
    "upgrade_vault",
]
KEYS_COPY = KEYS_FILE
#: The field of a manifest that authenticates the others.
MAC = "mac"


def copy_name(vault_id: str) -> str:
    """Return the file name of a vault's copy, or of the catalog's, in the folder of a backup."""
    return CATALOG_FILE if vault_id == CATALOG else name_in_backup(vault_id)


def newest_schema(vault_id: str | None) -> int:
    """Return the number of the last schema step that this program ships, for vaults or for the catalog."""
    return shipped(VAULT if vault_id else CATALOG)[-1].number


def entries_in(file: Path, key: bytes | None) -> list[VaultEntry]:
    """Return the vaults listed in a copy of the catalog."""
    with inspect_file(file, key) as copy:
        return copy.read(vaults.everything)


def check_copy(file: Path, name: str, key: bytes | None, rows: Mapping[str, int]) -> None:
    """Read every page and row of a copy, and compare its row counts with the recorded ones."""
    with inspect_file(file, key) as copy:
        if faults := copy.faults():
            raise Damaged(f"{name} of the backup is damaged: {faults[0]}; use another backup")
        if copy.row_counts() != dict(rows):
            raise Damaged(f"{name} of the backup does not have the rows that were backed up; use another backup")


def manifest_mac(document: Mapping[str, object], key: bytes) -> str:
    """Return the code that authenticates the manifest of a backup, over everything else in it."""
    rest = {name: value for name, value in document.items() if name != MAC}
    return hmac.digest(key, json.dumps(rest, sort_keys=True, separators=(",", ":")).encode(), "sha256").hex()


def is_authentic(document: Mapping[str, object], key: bytes) -> bool:
    """Return whether a manifest was written by a holder of the key."""
    given = document.get(MAC)
    return isinstance(given, str) and hmac.compare_digest(given.encode(), manifest_mac(document, key).encode())


def recode_copy(file: Path, key: bytes | None, new_key: bytes | None) -> None:
    """Encrypt a copy, or decrypt it: rewrite it under the new key or without one."""
    made = file.with_name(f".{file.name}-{os.urandom(6).hex()}")
    try:
        convert(file, key, made, new_key, size=page_bytes_of(file, key))
        remove(file)
        made.replace(file)
    finally:
        remove(made)


def rewrap_keys(file: Path, change: MasterChange, clock: Clock) -> bool:
    """Wrap the keys in a copy of keys.db by another master key, in one step; return False when they have a third one.

    A copy whose keys are wrapped by the new one already is left as it is.
    """
    made = file.with_name(f".{file.name}-rekey.unfinished")
    remove(made)
    try:
        shutil.copyfile(file, made)
        made.chmod(PRIVATE_FILE)
        database = SqliteDatabase(made, SqliteOptions(readers=1))
        try:
            record = database.read(lambda tx: find_holder(tx, str(file)))
            held = record.fingerprint if record else b""
            if held == change.old.fingerprint():
                database.write(lambda tx: rewrap(tx, change, str(file), clock()))
                database.on_connection(checkpoint)
        finally:
            database.close()
        if held == change.old.fingerprint():
            sync_path(made)
            made.replace(file)
            sync_folder(file.parent)
        return held in (change.old.fingerprint(), change.new.fingerprint())
    except OSError as error:
        raise explain(error, file) from error
    finally:
        remove(made)


def mark_vaults(file: Path, key: bytes | None, settings: StorageSettings, clock: Clock, *, encrypted: bool) -> None:
    """Record in a copy of the catalog whether its vaults are encrypted."""
    database = SqliteEngine(Home(file.parent), settings, clock).open_catalog(key)
    try:
        database.write(lambda tx: vaults.mark_encrypted(tx, encrypted=encrypted))
    finally:
        database.close()


def upgrade_catalog(room: Path, key: bytes | None, settings: StorageSettings, clock: Clock) -> None:
    """Migrate the catalog in a folder of copies to this program's schema."""
    SqliteEngine(Home(room), settings, clock).open_catalog(key).close()


def upgrade_vault(room: Path, vault_id: str, key: bytes | None, settings: StorageSettings, clock: Clock) -> Owner:
    """Migrate a vault in a folder of copies to this program's schema, and return its owner."""
    name = copy_name(vault_id)
    with inspect_file(room / name, key) as copy:
        owner = copy.owner()
    if owner is None:
        raise Damaged(f"{name} of the backup does not name its owner; use another backup")
    SqliteEngine(Home(room), settings, clock).open_vault(vault_id, Owner.parse(owner), key).close()
    return Owner.parse(owner)


def describe_copy(file: Path, key: bytes | None) -> tuple[int, dict[str, int]]:
    """Return the schema of a copy, and how many rows each of its tables has."""
    with inspect_file(file, key) as copy:
        return copy.schema(), copy.row_counts()


def change_catalog(file: Path, room: Path, key: bytes | None, clock: Clock, change: Callable[[Tx], None]) -> None:
    """Change a copy of the catalog at this program's schema, in an empty folder, and replace the copy when it is done.

    What the change deletes is overwritten in the new file.
    """
    made = Home(room)
    make_private_folder(made.backups)
    shutil.copyfile(file, room / CATALOG_FILE)
    database = SqliteEngine(made, StorageSettings(reserve_mib=0), clock).open_catalog(key)
    try:
        database.write(change)
        database.erase_remains()
    finally:
        database.close()
    (room / CATALOG_FILE).replace(file)
