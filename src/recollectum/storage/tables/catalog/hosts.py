"""Reads and writes the hosts table of the catalog, and which host keeps the files of each vault."""

from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.times import micros, moment

_SAVE = """
    INSERT INTO hosts (id, name, seen_at) VALUES (:id, :name, :at)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, seen_at = excluded.seen_at
"""
_ALL = """
    SELECT id, name, seen_at, (SELECT count(*) FROM vaults WHERE vaults.host = hosts.id) FROM hosts ORDER BY id
"""
_KEEPER = "SELECT host FROM vaults WHERE id = :vault"
_NAME = "SELECT name FROM hosts WHERE id = :id"
_ATTACH = "UPDATE vaults SET host = :host WHERE id = :vault AND host IS NULL"
_TAKE = "UPDATE vaults SET host = :host WHERE id = :vault"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHost:
    """A home folder on a machine, as the catalog knows it."""

    id: str
    name: str
    #: When it last became the keeper of files, or started a server.
    seen_at: datetime
    #: How many vaults have their files there.
    vaults: int


def save(tx: Tx, host_id: str, name: str, at: datetime) -> None:
    """Store the name of a host, and when it was seen."""
    tx.run(_SAVE, {"id": host_id, "name": name, "at": micros(at)})


def everything(tx: Tx) -> list[KnownHost]:
    """Return all hosts, by name."""
    found = [KnownHost(id=row[0], name=row[1], seen_at=moment(row[2]), vaults=row[3]) for row in tx.rows(_ALL, {})]
    return sorted(found, key=lambda one: (one.name, one.id))


def keeper(tx: Tx, vault_id: str) -> str | None:
    """Return the id of the host that keeps the files of a vault; None when there is none yet."""
    rows = tx.rows(_KEEPER, {"vault": vault_id})
    return rows[0][0] if rows else None


def name_of(tx: Tx, host_id: str) -> str:
    """Return the name of a host; of an unknown one, its id."""
    rows = tx.rows(_NAME, {"id": host_id})
    return rows[0][0] if rows else host_id


def attach(tx: Tx, vault_id: str, host_id: str) -> None:
    """Let a host keep the files of a vault, if no other does."""
    tx.run(_ATTACH, {"vault": vault_id, "host": host_id})


def take_over(tx: Tx, vault_id: str, host_id: str) -> None:
    """Let a host keep the files of a vault, whichever did before."""
    tx.run(_TAKE, {"vault": vault_id, "host": host_id})
