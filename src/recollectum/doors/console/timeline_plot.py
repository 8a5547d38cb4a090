"""Counts events by day, week or month, and lays out the bars of the timeline."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum

from recollectum.domain.event import Event, EventType
from recollectum.domain.records import dataclass

WIDTH, HEIGHT = 720, 220
_LEFT, _TOP, _BOTTOM = 28, 10, 24
_GAP = 0.28


class TimeStep(StrEnum):
    """The length of one bar's period."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class ChangeSort(StrEnum):
    """What became of memories, in the order in which bars are stacked."""

    LEARNED = "learned"
    CHANGED = "changed"
    FORGOTTEN = "forgotten"


#: How many bars a plot has.
BARS: Mapping[TimeStep, int] = {TimeStep.DAY: 30, TimeStep.WEEK: 26, TimeStep.MONTH: 12}
_SORTS: Mapping[EventType, ChangeSort] = {
    EventType.CREATED: ChangeSort.LEARNED,
    EventType.EDITED: ChangeSort.CHANGED,
    EventType.SUPERSEDED: ChangeSort.CHANGED,
    EventType.RESTORED: ChangeSort.CHANGED,
    EventType.ARCHIVED: ChangeSort.FORGOTTEN,
    EventType.DELETED: ChangeSort.FORGOTTEN,
    EventType.PURGED: ChangeSort.FORGOTTEN,
}


@dataclass(frozen=True, slots=True)
class PlotRow:
    """One period and how often each kind of change happened in it."""

    begins: date
    counts: Mapping[ChangeSort, int]

    @property
    def total(self) -> int:
        """All changes in the period."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the drawing."""

    sort: ChangeSort
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Label:
    """A word or a number of the drawing."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Everything that is drawn."""

    boxes: Sequence[Box]
    days: Sequence[Label]
    lines: Sequence[Label]


def sort_of(event: Event) -> ChangeSort | None:
    """Return the kind of change of an event; None when it is not about a memory."""
    return _SORTS.get(event.type) if event.subject == "memory" else None


def begin_of(at: datetime, step: TimeStep, zone: tzinfo | None) -> date:
    """Return the first day of the period that contains a time, in a time zone; None is the server's."""
    return _first_day(at.astimezone(zone).date(), step)


def _first_day(day: date, step: TimeStep) -> date:
    match step:
        case TimeStep.DAY:
            return day
        case TimeStep.WEEK:
            return day - timedelta(days=day.weekday())
        case TimeStep.MONTH:
            return day.replace(day=1)


def step_starts(now: datetime, step: TimeStep, zone: tzinfo | None) -> list[date]:
    """Return the first days of all periods of a plot that ends now, oldest first."""
    found = [begin_of(now, step, zone)]
    while len(found) < BARS[step]:
        found.append(_first_day(found[-1] - timedelta(days=1), step))
    return found[::-1]


def count(events: Iterable[Event], now: datetime, step: TimeStep, zone: tzinfo | None) -> list[PlotRow]:
    """Count what was learned, changed and forgotten in each period of a time zone, oldest first."""
    begins = step_starts(now, step, zone)
    found: dict[date, Counter[ChangeSort]] = {one: Counter() for one in begins}
    for event in events:
        sort, begin = sort_of(event), begin_of(event.at, step, zone)
        if sort is not None and begin in found:
            found[begin][sort] += 1
    return [PlotRow(one, {sort: found[one][sort] for sort in ChangeSort}) for one in begins]


def draw(rows: Sequence[PlotRow], step: TimeStep) -> Plot:
    """Return the bars of the rows, a number for each grid line, and a label below every few bars."""
    most = max((row.total for row in rows), default=0) or 1
    top = _round_up(most)
    room, slot = HEIGHT - _TOP - _BOTTOM, (WIDTH - _LEFT) / max(1, len(rows))
    boxes: list[Box] = []
    for number, row in enumerate(rows):
        y = float(HEIGHT - _BOTTOM)
        for sort in ChangeSort:
            height = room * row.counts[sort] / top
            y -= height
            title = f"{row.counts[sort]} {sort}, {describe_step(row.begins, step)}"
            x, width = _LEFT + slot * (number + _GAP / 2), slot * (1 - _GAP)
            boxes += [Box(sort, round(x, 2), round(y, 2), round(width, 2), round(height, 2), title)] if height else []
    each = max(1, len(rows) // 6)
    days = [
        Label(round(_LEFT + slot * (number + 0.5), 2), HEIGHT - 6, _short(row.begins, step))
        for number, row in enumerate(rows)
        if (len(rows) - 1 - number) % each == 0
    ]
    steps = sorted({0, top // 2, top} if top > 1 else {0, 1})
    lines = [Label(_LEFT, round(HEIGHT - _BOTTOM - room * value / top, 2), str(value)) for value in steps]
    return Plot(boxes, days, lines)


def describe_step(begins: date, step: TimeStep) -> str:
    """Return a period in words."""
    match step:
        case TimeStep.DAY:
            return f"{begins.day} {begins:%B %Y}"
        case TimeStep.WEEK:
            return f"week of {begins.day} {begins:%B %Y}"
        case TimeStep.MONTH:
            return f"{begins:%B %Y}"


def _short(begins: date, step: TimeStep) -> str:
    return f"{begins:%b}" if step is TimeStep.MONTH else f"{begins.day} {begins:%b}"


def _round_up(most: int) -> int:
    """Return the next round number."""
    for value in (1, 2, 4, 6, 8, 10):
        if most <= value:
            return value
    unit = 10 ** (len(str(most)) - 1)
    return next(value for value in (unit, 2 * unit, 4 * unit, 6 * unit, 8 * unit, 10 * unit) if most <= value)
