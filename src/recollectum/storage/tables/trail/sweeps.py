"""Reads and writes the sweeps table: the counts of each retention sweep."""

from datetime import datetime
from enum import StrEnum

from recollectum.domain.page import LAST_NUMBER
from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "number, at, state, archived, deleted, marked, purged, waiting, erased"
_ADD = """
    INSERT INTO sweeps (at, state, archived, deleted, marked, purged, waiting, erased)
    VALUES (:at, :state, :archived, :deleted, :marked, :purged, :waiting, :erased)
    RETURNING number
"""
_PAGE = f"""
    SELECT {_COLUMNS} FROM sweeps WHERE number < :before
     ORDER BY number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)
_TRIM = "DELETE FROM sweeps WHERE number <= :number"
#: More than a year of hourly sweeps.
_KEPT = 10_000


class SweepState(StrEnum):
    """The outcome of a sweep."""

    DONE = "done"
    #: The sweep would have purged something in this vault for the first time, and nobody had agreed.
    NEEDS_CONFIRMATION = "needs_confirmation"
    #: The clock was in doubt, so nothing was moved.
    HELD = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The report of one sweep."""

    number: int = 0
    at: datetime
    state: SweepState
    archived: int = 0
    #: Moved to the trash.
    deleted: int = 0
    marked: int = 0
    purged: int = 0
    #: The number of memories that wait for a person's consent before they are purged.
    waiting: int = 0
    #: False while another reader keeps purged content in the log.
    erased: bool = True


def add(tx: Tx, sweep: Sweep) -> int:
    """Store the report of a sweep, delete the oldest ones, and return its number."""
    row = {
        "at": micros(sweep.at),
        "state": sweep.state.value,
        "archived": sweep.archived,
        "deleted": sweep.deleted,
        "marked": sweep.marked,
        "purged": sweep.purged,
        "waiting": sweep.waiting,
        "erased": int(sweep.erased),
    }
    number: int = tx.rows(_ADD, row)[0][0]
    tx.run(_TRIM, {"number": number - _KEPT})
    return number


def page(tx: Tx, *, before: int | None, limit: int) -> list[Sweep]:
    """Return the newest reports before a number."""
    return [
        _from_row(row) for row in tx.rows(_PAGE, {"before": LAST_NUMBER if before is None else before, "limit": limit})
    ]


def _from_row(row: Row) -> Sweep:
    return Sweep(
        number=row[0],
        at=moment(row[1]),
        state=SweepState(row[2]),
        archived=row[3],
        deleted=row[4],
        marked=row[5],
        purged=row[6],
        waiting=row[7],
        erased=bool(row[8]),
    )
