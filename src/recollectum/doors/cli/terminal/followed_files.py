"""Reads followed files with progress, and shows what was read and what was left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from recollectum.domain.notice import Notice
from recollectum.domain.records import dataclass
from recollectum.doors.cli.terminal.flags import Run
from recollectum.doors.cli.terminal.output import answer, note, plural, step_progress, tell
from recollectum.doors.cli.terminal.sanitise import one_line

#: How many reasons are shown at once; --json has all of them.
_MOST_REASONS = 20
R = TypeVar("R")


def kept_elsewhere(host: str | None) -> list[str]:
    """Return the sentence about files that another host keeps; nothing when they are here."""
    if host is None:
        return []
    return [
        f"the host {host} keeps these files; sync them there, or take them over with: recollectum daemon hosts take"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLines:
    """A report in words."""

    #: How many, of what, and what was done with them.
    counts: Sequence[tuple[int, str, str]]
    #: The line to print if every count is 0.
    nothing: str
    #: What could not be read, and why.
    reasons: Sequence[str]
    notice: Notice


def sync_with_progress(run: Run, what: str, sync: Callable[[Callable[[int], None]], R]) -> R:
    """Read every followed file, and show how many were read."""
    with step_progress(run, f"reading {what}", None) as advance:
        return sync(advance)


def answer_report(
    run: Run, document: Mapping[str, object], lines: ReportLines, *, followed: object | None = None
) -> None:
    """Print the document, or the path that is now followed and the counts; then the first reasons."""
    first: Iterable[str] = () if followed is None else (one_line(f"{followed} is followed"),)
    counted = [f"{plural(count, what)} {how}" for count, what, how in lines.counts if count]
    answer(run, document, [*first, *(counted or [lines.nothing])])
    for reason in lines.reasons[:_MOST_REASONS]:
        note(reason)
    rest = len(lines.reasons) - _MOST_REASONS
    if rest > 0:
        note(f"and {rest} more; --json names them all")
    tell(lines.notice)
