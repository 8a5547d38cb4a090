"""Chooses the engine of a home, and answers what exists without opening it."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import StorageError
from recollectum.home.install_command import install_command
from recollectum.home.paths import Home
from recollectum.storage.sqlite.files import HomeFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

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
    catalog, is_split = HomeFiles(home).catalog, home.split_mark_file.exists()
    in_database = home.postgres_mark_file.exists()
    if is_split and not catalog.exists() and not in_database:
        raise StorageError(
            f"{catalog} is missing, but {home.split_mark_file.name} says that the catalog is a file and that vaults "
            "are in a database; restore the file from a backup"
        )
    if settings.url and catalog.exists() and not is_split and not in_database:
        raise StorageError(
            f"the vaults of {home.root} are SQLite files, but storage.url is set; "
            "unset it, move them with `recollectum move`, or name another home for the database"
        )
    if not settings.url and in_database and not catalog.exists():
        raise StorageError(
            f"the vaults of {home.root} are in a PostgreSQL database, but storage.url is not set; "
            "set it, or name another home"
        )
    return routed_engine(home, settings, clock, reload or (lambda: settings))


def routed_engine(
    home: Home, settings: "StorageSettings", clock: "Clock", reload: "Callable[[], StorageSettings]"
) -> "RoutedEngine":
    """Return the engine that finds the catalog and each vault in files or in a database."""
    # Import here: the checks below must not wait for a database library.
    from recollectum.storage.places.routed_engine import RoutedEngine  # noqa: PLC0415
    from recollectum.storage.places.vault_places import HomePlaces, NamedPlace, VaultPlaces, place_at  # noqa: PLC0415

    made: dict[NamedPlace, Engine] = {}

    def find(place: NamedPlace) -> "Engine":
        if place not in made:
            # A replica is that of one database: in another one the number of a vault is somebody else's.
            replica = settings.replica_url if place.url == settings.url else ""
            made[place] = engine_of(home, replace(settings, url=place.url, replica_url=replica), clock)
        return made[place]

    # While a catalog is moved there may be two; the one that is not used is marked, and leads to the other.
    in_files = HomeFiles(home).catalog.exists() and not home.postgres_mark_file.exists()
    place = place_at("" if in_files else settings.url)
    return RoutedEngine(VaultPlaces(HomePlaces(home=home, catalog=place, engine=find, settings=reload)))


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
