"""Brings the stored deadlines of a vault's memories into line with its retention, when that has changed."""

import json
from contextlib import suppress
from datetime import timedelta

from recollectum.domain.errors import StorageError
from recollectum.policy.lifecycle import Retention, active_times, later
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.content import deadlines
from recollectum.storage.tables.content.deadlines import Deadlines, RuledMemories
from recollectum.storage.tables.trail import meta
from recollectum.vault.clock import VaultClock

_META_KEY = "retention"
#: The active and archive days of every rule, by agent; the empty name is everybody else.
_Days = dict[str, list[int | None]]


def apply_retention(database: Database, clock: VaultClock, rules: Retention) -> None:
    """Set the deadlines of memories to a retention, if the vault's last one was different; they count from now.

    A disk that takes no writes leaves them as they are until the vault is opened again.
    """
    wanted = _days_of(rules)
    if database.read(_load) == wanted:
        return

    def change(tx: Tx) -> None:
        before = _load(tx)
        if before != wanted:
            _apply(tx, clock, rules, before)
            meta.save(tx, _META_KEY, json.dumps(wanted))

    with suppress(StorageError):
        database.write(change)


def _apply(tx: Tx, clock: VaultClock, rules: Retention, before: _Days | None) -> None:
    now = clock.reading(tx).policy_now
    named = {*_days_of(rules), *(before or {})} - {""}
    for name in ("", *sorted(named)):
        periods = rules.of(name) if name else rules
        if _is_applied(periods, None if before is None else before.get(name, before[""])):
            continue
        chosen = RuledMemories(agent=name) if name else RuledMemories(others=tuple(sorted(named)))
        times = active_times(now, periods)
        fresh = Deadlines(archive_at=times["archive_at"], retention_expires_at=times["retention_expires_at"])
        deadlines.set_active(tx, chosen, fresh, now)
        deadlines.set_archived(tx, chosen, later(now, periods.archived) if periods.archived else None, now)


def _is_applied(periods: Retention, before: list[int | None] | None) -> bool:
    """Return whether the stored deadlines follow these periods."""
    # A vault from before retention was recorded has the deadlines of its settings, unless nothing expires any more.
    return periods.active is not None if before is None else before == _days(periods)


def _load(tx: Tx) -> _Days | None:
    text = meta.find(tx, _META_KEY)
    return None if text is None else json.loads(text)


def _days_of(rules: Retention) -> _Days:
    return {"": _days(rules), **{name: _days(periods) for name, periods in rules.agents}}


def _days(rules: Retention) -> list[int | None]:
    return [_whole_days(rules.active), _whole_days(rules.archived)]


def _whole_days(period: timedelta | None) -> int | None:
    return None if period is None else period.days
