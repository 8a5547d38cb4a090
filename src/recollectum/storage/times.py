"""Converts moments to and from stored integers: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Return a time as the stored integer."""
    return (moment - _EPOCH) // _MICROSECOND


def micros_or_none(moment: datetime | None) -> int | None:
    """Return a time as the stored integer, or None."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def moment(stored: int) -> datetime:
    """Return the time of a stored integer."""
    return _EPOCH + timedelta(microseconds=stored)


def moment_or_none(stored: int | None) -> datetime | None:
    """Return the time of a stored integer, or None."""
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)
