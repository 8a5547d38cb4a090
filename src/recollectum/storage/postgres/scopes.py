"""Words the constants that begin a transaction of one vault, or of the catalog.

Everything is set for the transaction alone: behind a pooler the next transaction of a connection is another client's.
The number of the vault is the only part that varies, and it is a number.
"""

from recollectum.domain.records import dataclass
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.postgres.migrate import PATHS

#: How the server plans for a vault. It plans each time for the vault that asks: a plan that is kept was made for the
#: vault that came first on its connection, and one for 50 rows reads all rows of a vault of 10,000. Without the others,
#: a vault that holds most of a table makes the server read all of it, also for one row of a small vault. A server
#: before version 18 takes what these leave no other way for to cost ten billion, and would compile every such statement
#: first, which takes a hundred times as long as the statement.
PLANNING = {
    "jit": "off",
    "plan_cache_mode": "force_custom_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "random_page_cost": "1.1",
}
#: The catalog is one for all, so its plans are kept. Its statements that read many rows read those of all vaults:
#: lists that are matched row by row would take the square of their number.
CATALOG_PLANNING = {
    **PLANNING,
    "plan_cache_mode": "force_generic_plan",
    "enable_hashjoin": "on",
    "enable_mergejoin": "on",
}
#: How many marks of writes are kept: so many others may write before one that lost its connection asks for its own.
KEPT_MARKS = 32
#: A number that no other write has, also not one after a crash that takes the same transaction number again.
_MARKED = f"recent_writes = (ARRAY[(random() * {2**53})::bigint] || recent_writes)[1:{KEPT_MARKS}]"
#: A write waits for its turn at a row; what it reads after that is what the last writer wrote.
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"

#: The server's time in microseconds.
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseScope:
    """What the transactions of one database see, and the statements that begin them."""

    family: str
    #: For errors.
    place: str
    #: The number of the vault; None for the catalog.
    vault: int | None
    #: Begins a read, and returns the number of changes, the mark of the last write, the server's time, and the mark of
    #: the vault's key.
    read: bytes
    #: Begins a write and locks the vault or the catalog. Returns the number of changes, the transaction, the number of
    #: writes with this one, the mark of this one and of the one before, the time, and the mark of the vault's key.
    write: bytes
    #: The same for a write to the catalog that locks only the rows it takes, without a mark; in a vault there is one
    #: writer at a time.
    claim: bytes
    #: Returns the number of writes, and the marks of the last ones.
    written: bytes
    #: Whether a negative number of changes is refused: the catalog of the home is elsewhere.
    refuses_moved: bool = False


def vault_scope(vault: int, place: str, *, lock_ms: int, statement_ms: int) -> DatabaseScope:
    """Return the scope of one vault."""
    limits = _limits(VAULT, f"{vault:d}", lock_ms, statement_ms)
    counted = f"FROM recollectum_catalog.vault_state WHERE vault = {vault:d}"
    write = (
        "UPDATE recollectum_catalog.vault_state SET changes = changes + 1, "  # noqa: S608 - a number
        f"last_write_at = {_NOW}, {_MARKED} WHERE vault = {vault:d} "
        f"RETURNING changes, pg_current_xact_id(), changes, recent_writes[1], recent_writes[2], {_NOW}, key_mark"
    )
    writing = f"{_WRITE}; {limits}; {write}".encode()
    return DatabaseScope(
        family=VAULT,
        place=place,
        vault=vault,
        read=f"{_READ}; {limits}; SELECT changes, recent_writes[1], {_NOW}, key_mark {counted}".encode(),
        write=writing,
        claim=writing,
        written=f"SELECT changes, recent_writes {counted}".encode(),
    )


def catalog_scope(place: str, *, lock_ms: int, statement_ms: int) -> DatabaseScope:
    """Return the scope of the catalog. Its writers take turns too, as they do on SQLite; those of claims need not."""
    limits = _limits(CATALOG, "", lock_ms, statement_ms)
    # The row is locked so weakly that other claims and writers go on, but not a move of the catalog.
    claim = (
        "SELECT one FROM catalog_writes FOR KEY SHARE; "  # noqa: S608 - constants
        f"SELECT made, pg_current_xact_id(), 0, NULL, NULL, {_NOW}, NULL FROM catalog_changes"
    )
    write = (
        f"UPDATE catalog_writes SET writes = writes + 1, {_MARKED} RETURNING "  # noqa: S608 - constants
        f"(SELECT made FROM catalog_changes), pg_current_xact_id(), writes, recent_writes[1], NULL, {_NOW}, NULL"
    )
    return DatabaseScope(
        family=CATALOG,
        place=place,
        vault=None,
        read=f"{_READ}; {limits}; SELECT made, NULL, {_NOW}, NULL FROM catalog_changes".encode(),  # noqa: S608 - see above
        write=f"{_WRITE}; {limits}; SELECT made FROM catalog_changes FOR UPDATE; {write}".encode(),  # noqa: S608 - see above
        claim=f"{_WRITE}; {limits}; {claim}".encode(),
        written=b"SELECT writes, recent_writes FROM recollectum_catalog.catalog_writes",
    )


def _limits(family: str, vault: str, lock_ms: int, statement_ms: int) -> str:
    planning = PLANNING if family == VAULT else CATALOG_PLANNING
    return (
        f"SET LOCAL search_path = {PATHS[family]}; SET LOCAL recollectum.vault = '{vault}'; "
        f"SET LOCAL lock_timeout = {lock_ms:d}; SET LOCAL statement_timeout = {statement_ms:d}; "
        + "; ".join(f"SET LOCAL {name} = {value}" for name, value in planning.items())
    )
