"""Parses durations and dates as people type them, in the time zone of this machine."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock, system_clock

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(?:[0-9]{1,9}[smhdw])+")
_PART = re.compile(r"([0-9]+)([smhdw])")
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_MONTHS = {"month": 1, "year": 12}
_WORDS = {"min": "minute", "hr": "hour"}
_AGO = re.compile(
    r"(?P<count>[0-9]{1,6}|an?)\s+(?P<unit>second|minute|min|hour|hr|day|week|month|year)s?\s+ago", re.ASCII
)
_LAST = re.compile(r"last\s+(?P<unit>week|month|year)", re.ASCII)
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
    """Parse a date, a time, `yesterday`, `-7d`, `2 weeks ago` or `+30d`; without a zone it is of the local one."""
    spelled = text.strip()
    try:
        found = _relative(spelled.lower(), clock().astimezone()) or datetime.fromisoformat(spelled)
        # Also beyond the first and the last year of the calendar, where another zone has no such time.
        found = found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"{text!r} is not a date; write 2026-11-15, 2026-11-15T10:30, yesterday, -7d, '2 weeks ago', "
            "or +30d from now"
        ) from None
    if found.year > _LAST_YEAR:
        raise InvalidInput(f"{text!r} lies after the year {_LAST_YEAR}; give an earlier date")
    return found


def start_of_day(moment: datetime) -> datetime:
    """Return midnight of the local day of a time."""
    return _midnight(moment.astimezone().date()).astimezone(UTC)


def _relative(spelled: str, now: datetime) -> datetime | None:
    """Return the time that is counted from now; None for any other text. Days begin at local midnight."""
    if spelled == "now":
        return now
    if spelled in _DAYS:
        return _midnight(now.date() + timedelta(days=_DAYS[spelled]))
    if spelled.startswith(("+", "-")):
        length = parse_duration(spelled[1:])
        return now + length if spelled.startswith("+") else now - length
    if found := _AGO.fullmatch(spelled):
        count = 1 if found["count"] in ("a", "an") else int(found["count"])
        return _before(now, count, found["unit"])
    if found := _LAST.fullmatch(spelled):
        return _midnight(_before(now, 1, found["unit"]).date())
    return None


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit not in _MONTHS:
        return now - timedelta(**{f"{_WORDS.get(unit, unit)}s": count})
    years, month = divmod(now.year * 12 + now.month - 1 - count * _MONTHS[unit], 12)
    # The 31st of a shorter month is its last day.
    day = min(now.day, monthrange(years, month + 1)[1])
    return now.replace(year=years, month=month + 1, day=day)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - without a zone it is of the local one
