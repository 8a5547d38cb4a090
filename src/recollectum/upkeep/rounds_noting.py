"""Noting how a round went: rows of the catalog for each vault and for the home as a whole."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from recollectum.home.paths import Home
from recollectum.storage.tables import rounds
from recollectum.storage.tables.rounds import RoundRow
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.upkeep.backup_grounds import Grounds
from recollectum.upkeep.rounds_due import UNSETTLED, next_look, retry_at
from recollectum.upkeep.rounds_watching import file_states
from recollectum.upkeep.rounds_work import Done

#: A round that comes often and does nothing is written down no more often than this.
_NOTED_EVERY = timedelta(minutes=1)


def attempted(work: Callable[[], Done]) -> Done:
    """What the work did, or why it could not: in a sentence, and without content."""
    try:
        return work()
    except RecollectumError as error:
        return Done(trouble=str(error))
    except OSError as error:
        return Done(trouble=f"the system refused: {error.strerror or type(error).__name__}")
    except Exception as error:  # noqa: BLE001  (a fault in one round must stop neither the others nor the program)
        # Its words could hold what somebody said.
        return Done(trouble=f"it ended with an unexpected {type(error).__name__}; please report it")


def to_row(
    name: str, every: timedelta, started: datetime, finished: datetime, done: Done, last: RoundRow | None
) -> RoundRow:
    """How a round went, and when it comes again; for the home as a whole until a vault is named."""
    failures = (last.failures if last else 0) + 1 if done.trouble else 0
    again = retry_at(finished, every, failures) if failures else next_look(finished, every, done.next_at, done.latest)
    return RoundRow(
        name=name,
        vault=None,
        every_seconds=every.total_seconds(),
        started_at=started,
        finished_at=finished,
        next_at=again,
        failures=failures,
        counts=done.counts,
        trouble=done.trouble,
    )


def total(
    name: str, every: timedelta, started: datetime, finished: datetime, made: Iterable[RoundRow], failing: int
) -> RoundRow:
    """How a round went over all vaults: the sums, and how many vaults it cannot look after now."""
    rows = list(made)
    counts: Counter[str] = Counter(vaults=len(rows))
    for row in rows:
        counts.update(row.counts)
    vaults = "1 vault" if failing == 1 else f"{failing} vaults"
    return RoundRow(
        name=name,
        vault=None,
        every_seconds=every.total_seconds(),
        started_at=started,
        finished_at=finished,
        next_at=finished + every,
        failures=failing,
        counts=counts,
        trouble=f"{vaults} could not be looked after, and will be tried again" if failing else None,
    )


def note_total(grounds: Grounds, before: RoundRow | None, row: RoundRow) -> None:
    """Write down how a round went in the home, unless it says nothing new and the last one is young."""
    quiet = not row.counts.get("vaults")
    if quiet and before and before.trouble == row.trouble:
        if row.started_at - before.started_at < _NOTED_EVERY and before.every_seconds == row.every_seconds:
            return
        # What it did when there was something to do says more than that there is nothing.
        row = replace(row, counts=before.counts)
    grounds.catalog.write(lambda tx: rounds.save(tx, row))


def seen_state(grounds: Grounds, entry: VaultEntry, settling: timedelta) -> str:
    """The state of a vault's files from outside: as long as it is the same, nobody has written to the vault.

    SQLite writes to its log first, waits for the medium and only then shows what it wrote, so files that changed a
    moment ago may have more to show without changing again.
    """
    states = [state[1:] for state in file_states(_files(grounds.home, entry.id))]
    youngest = max((changed for changed, _ in states), default=0)
    settled = time.time_ns() - youngest >= settling / timedelta(microseconds=1) * 1000
    return repr(states) if settled else repr(states) + UNSETTLED


@lru_cache(maxsize=4096)
def _files(home: Home, vault_id: str) -> tuple[Path, ...]:
    file = home.vault_file(vault_id)
    return file, file.with_name(f"{file.name}-wal")
