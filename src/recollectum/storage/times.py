"""Converts moments to and from stored integers: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """A moment as the integer that is stored."""
    return (moment - _EPOCH) // _MICROSECOND


def micros_or_none(moment: datetime | None) -> int | None:
    """The same, where no moment is kept as NULL."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def moment(stored: int) -> datetime:
    """The moment that an integer stands for."""
    return _EPOCH + timedelta(microseconds=stored)


def moment_or_none(stored: int | None) -> datetime | None:
    """The same, where NULL is no moment."""
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)
