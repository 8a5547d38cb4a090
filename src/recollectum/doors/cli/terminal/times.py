"""Parses durations and dates as people type them."""

import re
from datetime import UTC, datetime, timedelta

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock, system_clock

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(?:[0-9]{1,9}[smhdw])+")
_PART = re.compile(r"([0-9]+)([smhdw])")
#: A later date would put the deadlines after it past the largest year.
_LAST_YEAR = 9000


def parse_duration(text: str) -> timedelta:
    """Parse `10m`, `2h`, `30d`, `1w` or `1h30m`."""
    spelled = text.strip().lower()
    if not _DURATION.fullmatch(spelled):
        raise InvalidInput(f"{text!r} is not a duration; write a number and s, m, h, d or w, such as 10m or 30d")
    try:
        return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in _PART.findall(spelled)), timedelta())
    except OverflowError:
        raise InvalidInput(f"{text!r} reaches beyond the last date of the calendar; give a shorter duration") from None


def parse_time(text: str, clock: Clock = system_clock) -> datetime:
    """Parse `2026-11-15`, `2026-11-15T10:30`, or `+30d` from now; without a zone it is UTC."""
    spelled = text.strip()
    try:
        found = clock() + parse_duration(spelled[1:]) if spelled.startswith("+") else _read(spelled)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{text!r} is not a date; write 2026-11-15, 2026-11-15T10:30Z, or +30d from now") from None
    if found.year > _LAST_YEAR:
        raise InvalidInput(f"{text!r} lies after the year {_LAST_YEAR}; give an earlier date")
    return found


def _read(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
