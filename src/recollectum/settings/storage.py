"""Defines the settings of the storage: where vaults and tasks are kept, and how the database is used."""

from typing import Literal

from recollectum.domain.records import dataclass
from recollectum.settings.spec import choice, database_url, number, text
from recollectum.settings.values import is_task_url


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StorageSettings:
    """Where the vaults are kept, and how the database is used."""

    url: str = database_url("The PostgreSQL database of the vaults; empty keeps them in SQLite files in the home.")
    replica_url: str = database_url(
        "A hot standby of the database, which may answer recall and context; empty is none."
    )
    second_url: str = database_url(
        "A second PostgreSQL database, into which `recollectum move` moves the vaults; that command sets it."
    )
    migrator_url: str = database_url("The address for `recollectum upgrade` on PostgreSQL; empty is `storage.url`.")
    keys_url: str = database_url(
        "A second PostgreSQL database, in which several hosts share the wrapped keys and the erasure ledger; empty "
        "keeps them in the home."
    )
    keys_migrator_url: str = database_url(
        "The address for `recollectum upgrade` of the keys database; empty is `storage.keys_url`."
    )
    connections: int = number(8, 1, 1000, "Maximum connections of one process to PostgreSQL.")
    prepared_statements: Literal["on", "off"] = choice(
        "on", ("off",), "Whether statements are prepared on PostgreSQL; `off` suits PgBouncer before 1.21."
    )
    statement_timeout_seconds: float = number(
        60.0, 0, 86_400, "How long one statement may take on PostgreSQL; 0 is no limit."
    )
    remains_days: int = number(
        30,
        0,
        36_500,
        "Days until the PostgreSQL server's log and base backups expire; a receipt of a purge names the day.",
    )
    busy_timeout_seconds: float = number(10.0, 0.1, 600, "How long a write waits for another process.")
    open_vaults: int = number(256, 1, 10_000, "How many vaults one process keeps open at once.")
    open_vaults_mib: int = number(
        1024, 1, 1_048_576, "Maximum MiB of vectors and text index that the open vaults of one process hold in memory."
    )
    readers: int = number(4, 1, 64, "How many reads of one vault run at once.")
    cache_kib: int = number(8192, 256, 1_048_576, "Page cache of each open vault, in KiB.")
    reserve_mib: int = number(8, 0, 1024, "MiB reserved so that deleting works on a full disk; 0 reserves none.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TaskSettings:
    """Where the tasks of agent servers are kept, and for how long."""

    url: str = text(
        "",
        is_task_url,
        "file:///path, s3://bucket/prefix, gs://bucket/prefix, memory://name or empty, without credentials",
        "Where tasks are kept; empty is the folder `tasks` of the home.",
    )
    keep_days: int = number(0, 0, 36_500, "Days after its last save until retention deletes a task; 0 is never.")
    keep_count: int = number(0, 0, 1_000_000, "How many tasks of a vault retention keeps, the newest; 0 is all.")
    retention_hours: float = number(
        24.0, 0.0, 8760, "Hours between two sweeps of the tasks by the daemon; 0 makes none."
    )
    max_mib: int = number(65_536, 1, 16_777_216, "Maximum MiB of one workspace, before compression.")
