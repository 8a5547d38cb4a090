"""Chooses the engine of a home, and answers what exists without opening it."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import StorageError
from recollectum.home.install_command import install_command
from recollectum.home.paths import Home
from recollectum.storage.sqlite.files import HomeFiles, is_there, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from datetime import datetime

    from recollectum.domain.ids import Clock
    from recollectum.settings.storage import StorageSettings
    from recollectum.storage.engine import Engine
    from recollectum.storage.places.routed_engine import RoutedEngine


def open_engine(
    home: Home,
    settings: "StorageSettings",
    clock: "Clock",
    reload: "Callable[[], StorageSettings] | None" = None,
) -> "Engine":
    """Return the engine of a home; nothing is opened or created yet.

    `reload` reads the settings again: another program may have moved a vault since, and set the address.
    """
    if home.move_mark_file.exists():
        raise StorageError(
            f"the vaults of {home.root} were moved, and the last steps are missing; finish with: recollectum move"
        )
    catalog, is_split = HomeFiles(home).catalog, home.split_mark_file.exists()
    if is_split and not catalog.exists():
        raise StorageError(
            f"{catalog} is missing, but {home.split_mark_file.name} says that the catalog is a file and that vaults "
            "are in a database; restore the file from a backup"
        )
    if settings.url and catalog.exists() and not is_split:
        raise StorageError(
            f"the vaults of {home.root} are SQLite files, but storage.url is set; "
            "unset it, move them with `recollectum move`, or name another home for the database"
        )
    if not settings.url and home.postgres_mark_file.exists():
        raise StorageError(
            f"the vaults of {home.root} are in a PostgreSQL database, but storage.url is not set; "
            "set it, or name another home"
        )
    return routed_engine(home, settings, clock, reload or (lambda: settings))


def routed_engine(
    home: Home, settings: "StorageSettings", clock: "Clock", reload: "Callable[[], StorageSettings]"
) -> "RoutedEngine":
    """Return the engine that finds each vault in files or in the database."""
    # Import here: the checks below must not wait for a database library.
    from recollectum.storage.places.routed_engine import RoutedEngine  # noqa: PLC0415
    from recollectum.storage.places.vault_places import HomePlaces, VaultPlaces  # noqa: PLC0415
    from recollectum.storage.tables.catalog.vaults import StoragePlace  # noqa: PLC0415

    made: dict[StoragePlace, Engine] = {}

    def find(place: StoragePlace) -> "Engine":
        if place not in made:
            url = (settings.url or reload().url) if place is StoragePlace.DATABASE else ""
            if place is StoragePlace.DATABASE and not url:
                raise StorageError(
                    f"a vault of {home.root} is in a PostgreSQL database, but storage.url is not set; set it"
                )
            made[place] = engine_of(home, replace(settings, url=url), clock)
        return made[place]

    in_files = HomeFiles(home).catalog.exists() or not settings.url
    engines = {one: partial(find, one) for one in StoragePlace}
    place = StoragePlace.FILES if in_files else StoragePlace.DATABASE
    return RoutedEngine(VaultPlaces(HomePlaces(home=home, catalog=place, engines=engines)))


def engine_of(home: Home, settings: "StorageSettings", clock: "Clock") -> "Engine":
    """Return the engine that the settings name, wherever the vaults are: a move has two at once."""
    if settings.url:
        with needs_driver():
            # Import here: most homes are SQLite files, and the driver is an extra.
            from recollectum.storage.postgres.engine import PostgresEngine  # noqa: PLC0415

        return PostgresEngine(home, settings, clock)
    # Import here: the checks below must not wait for a database library.
    from recollectum.storage.sqlite.engine import SqliteEngine  # noqa: PLC0415

    return SqliteEngine(home, settings, clock)


def set_files_aside(home: Home, vault_ids: "Sequence[str]", now: "datetime") -> list[Path]:
    """Move the catalog and these vaults into the backups, because a database has them now; return their new paths."""
    found = HomeFiles(home)
    paths = [found.catalog, *(found.vault(vault_id) for vault_id in vault_ids)]
    return [set_aside(home, path, now) for path in paths if is_there(path)]


def upgrade_databases(settings: "StorageSettings", clock: "Clock", *, dry_run: bool) -> "Mapping[str, tuple[str, ...]]":
    """Bring the schema of each PostgreSQL database up to date, as the migrator; return the steps that ran or would."""
    with needs_driver():
        from recollectum.storage.postgres.connections.address import KEYS, ROWS  # noqa: PLC0415 - see below
        from recollectum.storage.postgres.operations.schema_upgrade import upgrade_schema  # noqa: PLC0415

    urls = {"database": (settings.migrator_url or settings.url, ROWS)}
    if settings.keys_url:
        urls["keys database"] = (settings.keys_migrator_url or settings.keys_url, KEYS)
    return {name: upgrade_schema(url, clock, use, dry_run=dry_run) for name, (url, use) in urls.items()}


@contextmanager
def needs_driver() -> "Generator[None]":
    """Name what to install when the driver of PostgreSQL is missing."""
    try:
        yield
    except ImportError as error:
        if not (error.name or "").startswith("psycopg"):
            raise
        raise StorageError(
            "storage.url is set, but the PostgreSQL driver is not installed; "
            f"run: {install_command('recollectum[postgres]')}"
        ) from error


def is_made(home: Home) -> bool:
    """Return whether a home exists."""
    return HomeFiles(home).catalog.exists() or home.postgres_mark_file.exists()


def has_vaults(home: Home) -> bool:
    """Return whether vaults exist, even where the catalog is lost."""
    return bool(HomeFiles(home).vaults())


def has_keys(home: Home) -> bool:
    """Return whether a key store exists, in the home or in a keys database that it has used."""
    return HomeFiles(home).keys.exists() or home.keys_mark_file.exists()


def has_key_file(home: Home) -> bool:
    """Return whether the keys are in a file of the home."""
    return HomeFiles(home).keys.exists()


def private_files(home: Home) -> list[Path]:
    """Return the database files of a home, which only this account may read."""
    return [path for path in HomeFiles(home).private() if path.exists()]


def place_of_catalog(home: Home) -> str:
    """Return the location of a catalog in SQLite files in words, whether or not it exists."""
    return str(HomeFiles(home).catalog)


def place_of_keys(home: Home) -> str:
    """Return the location of the key store in words, whether or not it exists."""
    return str(HomeFiles(home).keys)


def damaged_log_copies(home: Home) -> list[tuple[str, Path]]:
    """Return the name of each database whose log was damaged, and the folder with the copy of the log."""
    return HomeFiles(home).damaged_logs()
