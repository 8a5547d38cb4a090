"""When a round is due in a vault: pure decisions from the last time, the state of its files and the clock."""

from datetime import datetime, timedelta

from recollectum.storage.tables.rounds import RoundRow

#: However quiet a vault is, it is looked at again after so long.
AT_LATEST = timedelta(hours=1)
_LONGEST_BACKOFF = timedelta(hours=1)
_MOST_DOUBLINGS = 12
#: Ends the state of files that were written so lately that what was written may not be visible yet.
UNSETTLED = "?"


def is_due(last: RoundRow | None, now: datetime, seen: str) -> bool:
    """Whether to open the vault: its time has come, or somebody wrote to it; after a failure only when it may retry."""
    if last is None or now >= last.next_at:
        return True
    if now < last.started_at:
        # A clock that was set back must not stop the rounds until it has caught up.
        return True
    rested = now >= last.finished_at + timedelta(seconds=last.every_seconds)
    return last.failures == 0 and is_changed(last.seen, seen) and rested


def is_changed(before: str, now: str) -> bool:
    """Whether something may have been written since a state was seen."""
    return before != now or before.endswith(UNSETTLED)


def retry_at(now: datetime, every: timedelta, failures: int) -> datetime:
    """When a round that failed so often in a row is tried again: each time after twice as long, up to an hour."""
    steps = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    return now + max(every, min(every * 2**steps, _LONGEST_BACKOFF))


def next_look(now: datetime, every: timedelta, wanted: datetime | None, latest: timedelta = AT_LATEST) -> datetime:
    """When a vault is looked at again although nobody writes to it: when it asked for it, or after a while."""
    last = now + max(every, latest)
    return last if wanted is None else min(max(wanted, now + every), last)
