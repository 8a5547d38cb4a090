"""Chooses where the keys of a home are: in its file keys.db, or in the database of `storage.keys_url`."""

from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import SettingsError
from recollectum.home.paths import Home
from recollectum.storage.shared.keys_file import KeysFile, read_keys_file
from recollectum.storage.sqlite.files import HomeFiles

if TYPE_CHECKING:
    from recollectum.domain.ids import Clock
    from recollectum.settings.storage import StorageSettings
    from recollectum.storage.shared.key_place import KeyPlace
    from recollectum.storage.shared.keys_server import KeysServer

_MOVE = "recollectum encryption move-keys"


def find_key_place(home: Home, settings: "StorageSettings | None", clock: "Clock") -> "KeyPlace":
    """Return where the keys are; nothing is opened yet. Without settings they are in the file."""
    is_file = HomeFiles(home).keys.exists()
    if settings is None or not settings.keys_url:
        if settings is not None and home.keys_mark_file.exists():
            raise SettingsError(
                f"the keys of {home.root} are in a keys database, but storage.keys_url is not set; set it, or bring "
                f"them back with it set, by `{_MOVE} home`"
            )
        return KeysFile(home, clock)
    if is_file:
        raise SettingsError(
            f"the keys of {home.root} are in keys.db, but storage.keys_url is set; move them with `{_MOVE} database`, "
            "or unset it"
        )
    return keys_server(home, settings, clock)


def keys_server(home: Home, settings: "StorageSettings", clock: "Clock") -> "KeysServer":
    """Return the keys database that the settings name; raise where it cannot be one."""
    if not settings.keys_url:
        raise SettingsError("storage.keys_url is not set, so there is no keys database; set it to its address")
    if not settings.url:
        raise SettingsError(
            "storage.keys_url is set, but storage.url is not: a keys database is for vaults in a database; set both, "
            "or none"
        )
    # Imported here: the driver is an extra.
    from recollectum.storage.opening import needs_driver  # noqa: PLC0415

    with needs_driver():
        from recollectum.storage.postgres.connections.address import KEYS, read_address  # noqa: PLC0415
        from recollectum.storage.shared.keys_server import KeysServer, same_database  # noqa: PLC0415
    rows = read_address(settings.url)
    if read_address(settings.keys_url, KEYS.setting).words == rows.words:
        raise same_database(rows.words)
    return KeysServer(home, settings, clock)


def check_keys_apart(home: Home, settings: "StorageSettings", clock: "Clock") -> None:
    """Raise if the keys are in the database that the settings name for vaults."""
    if settings.keys_url:
        server = keys_server(home, settings, clock)
        try:
            server.check_apart()
        finally:
            server.close()


def load_copied_keys(home: Home, settings: "StorageSettings", file: Path, clock: "Clock") -> None:
    """Write the keys of a file keys.db, such as a backup's, into the keys database, which must have none."""
    find_key_place(home, settings, clock)
    server = keys_server(home, settings, clock)
    # Imported here: the driver is an extra.
    from recollectum.storage.shared.key_moves import load_keys  # noqa: PLC0415

    try:
        load_keys(server, read_keys_file(file))
        server.open()
    finally:
        server.close()
