"""Reads and writes the catalog_changes table of the catalog: how many changes were made in it."""

from recollectum.storage.port import Tx

_COUNT = "UPDATE catalog_changes SET made = made + 1"
_FIND = "SELECT made FROM catalog_changes"
_MISSING = "SELECT missing FROM catalog_changes"
_GO_ON = "UPDATE catalog_changes SET missing = missing + :seen - made, made = :seen WHERE made < :seen"
_STATE = "SELECT made, missing FROM catalog_changes"
_TAKE_OVER = "UPDATE catalog_changes SET made = :made, missing = :missing"
_SETTLE = "UPDATE catalog_changes SET missing = 0"


def find(tx: Tx) -> int:
    """Return how many changes were made."""
    return int(tx.rows(_FIND, {})[0][0])


def count(tx: Tx) -> int:
    """Count one more change; return how many were made."""
    tx.run(_COUNT, {})
    return find(tx)


def find_missing(tx: Tx) -> int:
    """Return how many changes an older file lacked when it was opened; 0 when nothing is known to be missing."""
    return int(tx.rows(_MISSING, {})[0][0])


def go_on(tx: Tx, seen: int) -> None:
    """Count on from the changes that were seen, and store how many of them an older file lacks."""
    tx.run(_GO_ON, {"seen": seen})


def settle(tx: Tx) -> None:
    """Forget what an older file lacked: a person goes on without it."""
    tx.run(_SETTLE, {})


def state(tx: Tx) -> tuple[int, int]:
    """Return how many changes were made, and how many an older file lacked."""
    made, missing = tx.rows(_STATE, {})[0]
    return made, missing


def take_over(tx: Tx, made: int, missing: int) -> None:
    """Store the state of another catalog, whose rows replace those of this one."""
    tx.run(_TAKE_OVER, {"made": made, "missing": missing})
