"""Prints answers on stdout as text or JSON, remarks and progress bars on stderr."""

import json
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from recollectum.domain.notice import Notice
from recollectum.doors.cli.terminal.flags import Run
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.json_values import to_json

_NOTHING = "-"
#: The spaces between two columns of a table.
_BETWEEN = 2
#: Columns of a terminal that the text of a row gets, however narrow the terminal is.
_LEAST_TEXT = 24


def answer(run: Run, document: Mapping[str, object], lines: Iterable[str]) -> None:
    """Print the document for a program, or the lines for a person. Lines must have been sanitised."""
    if run.json:
        print_json(document)
        return
    for line in lines:
        print(line)


def answer_rows(
    run: Run,
    document: Mapping[str, object],
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    one_line_each: bool = False,
) -> None:
    """Print the document, a table on a terminal, or tab-separated lines for a program.

    With `one_line_each`, the last column of the table is cut where the terminal ends.
    """
    if run.json:
        print_json(document)
        return
    cells = [[_cell(value) for value in row] for row in rows]
    if sys.stdout.isatty():
        _table(headings, cells, cut=one_line_each)
        return
    for row in cells:
        print("\t".join(row))


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON object, in ASCII, so that nothing in it can act on a terminal."""
    print(json.dumps(to_json(document), indent=2))


def note(text: str) -> None:
    """Print a remark for the person on stderr; it is not part of the answer."""
    print(one_line(text), file=sys.stderr)


def tell(notice: Notice) -> None:
    """Print what a write did to its text besides storing it, as remarks."""
    for sentence in notice.sentences():
        note(sentence)


def listing(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Return names and values, one pair per line; a missing value is left out."""
    shown = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    return [f"{name:<{width}}  {_spelled(value)}" for name, value in shown]


def moment(value: datetime | None) -> str:
    """Return a time as a person reads it: in the time zone of this machine, which is named."""
    if value is None:
        return _NOTHING
    try:
        local = value.astimezone()
    except (OverflowError, OSError, ValueError):
        # The first and the last day of the calendar have no time in some zones.
        local = value
    return local.strftime("%Y-%m-%d %H:%M %Z")


def tell_of_more(shown: int, total: int | None, last: str) -> None:
    """Tell that a list goes on after its last row, and how to see the others."""
    of = f"{shown:,} of {total:,}" if total is not None else f"the newest {shown:,}; there are more"
    note(f"{of}; see others with --limit N, or older ones with --before {last}")


def plural(count: int, noun: str) -> str:
    """Return `1 memory`, `2 memories`, `3 days`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else f"{count} {noun}s"


def _spelled(value: object) -> str:
    return moment(value) if isinstance(value, datetime) else one_line(str(value))


def _cell(value: object) -> str:
    if value is None or value == "":
        return _NOTHING
    return moment(value) if isinstance(value, datetime) else one_line(str(value))


def _table(headings: Sequence[str], cells: Sequence[Sequence[str]], *, cut: bool) -> None:
    # Rich takes 25 ms to import, and only a terminal needs it.
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console()
    others = [
        max(map(cell_len, column)) + _BETWEEN
        for column in zip(headings[:-1], *(row[:-1] for row in cells), strict=True)
    ]
    left = max(_LEAST_TEXT, console.width - sum(others)) if cut else None
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=place == 0)
    for row in cells:
        # As Text: square brackets in content are not style.
        texts = [Text(cell) for cell in row]
        if left is not None:
            texts[-1].truncate(left, overflow="ellipsis")
        table.add_row(*texts)
    console.print(table)


_LARGE = 2**20
#: Seconds after which a command shows that it is at work.
PATIENCE = 1.0


@contextmanager
def byte_progress(files: Sequence[str]) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the number of bytes read."""
    total = sum(_size(name) for name in files)
    if not sys.stderr.isatty() or (len(files) == 1 and total < _LARGE):
        yield lambda _: None
        return
    # Rich takes 25 ms to import, and only a terminal needs it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("import", total=total or None)
        yield lambda count: progress.advance(task, count)


@contextmanager
def step_progress(run: Run, what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the number of steps taken; `None` is an unknown total."""
    if run.json or not sys.stderr.isatty():
        yield lambda _: None
        return
    # Rich takes 25 ms to import, and only a terminal needs it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


@contextmanager
def working(run: Run, what: str) -> Generator[None]:
    """Show on a terminal that a command is at work and for how long, from its first second on; not with --json."""
    if run.json or not sys.stderr.isatty():
        yield
        return
    # Rich takes 25 ms to import, and only a terminal needs it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn(what), BarColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(what, total=None)
    begin = threading.Timer(PATIENCE, progress.start)
    begin.daemon = True
    begin.start()
    try:
        yield
    finally:
        begin.cancel()
        begin.join()
        progress.stop()


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except (OSError, ValueError):
        # Stdin, or a file whose opening will report the error.
        return 0
