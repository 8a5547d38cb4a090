"""Reads the address of a PostgreSQL database, and names it without its password."""

from dataclasses import replace
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from recollectum.domain.errors import SettingsError
from recollectum.domain.records import dataclass

#: Used where the address says nothing else: a lost machine is noticed within a minute, and no attempt waits for ever.
_DEFAULTS: dict[str, Any] = {
    "application_name": "recollectum",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseAddress:
    """The address of one database. It holds a password: only `words` may be shown."""

    options: dict[str, Any]
    #: The host, the port and the name of the database.
    words: str
    #: The role that connects; empty leaves it to the system.
    user: str


@dataclass(frozen=True, slots=True)
class DatabaseUse:
    """What a database is used for: the settings that name it, and its name for people."""

    setting: str
    migrator: str
    words: str = ""

    def of(self, address: DatabaseAddress) -> DatabaseAddress:
        """Return the address with words that say what the database is."""
        return replace(address, words=f"{self.words} {address.words}".lstrip())


ROWS = DatabaseUse("storage.url", "storage.migrator_url")
KEYS = DatabaseUse("storage.keys_url", "storage.keys_migrator_url", "the keys database")


def read_address(url: str, setting: str = "storage.url") -> DatabaseAddress:
    """Return the parts of an address; raise when it cannot be read."""
    try:
        found = conninfo_to_dict(url)
    except ProgrammingError:
        # The text of the error may quote a part of the password.
        raise SettingsError(
            f"{setting} cannot be read; write postgresql://role:password@host:5432/database, "
            "with special characters of the password as %XX"
        ) from None
    hosts = str(found.get("host") or found.get("hostaddr") or "localhost").split(",")
    ports = str(found.get("port") or "5432").split(",")
    places = [f"{host}:{ports[min(place, len(ports) - 1)] or 5432}" for place, host in enumerate(hosts)]
    name = found.get("dbname") or found.get("user") or ""
    return DatabaseAddress(
        {**_DEFAULTS, **found}, f"postgresql://{','.join(places)}/{name}", str(found.get("user") or "")
    )
