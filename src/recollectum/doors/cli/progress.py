"""A progress bar on stderr for long work, and nothing where nobody would see it."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

_LARGE = 2**20


@contextmanager
def counted(files: Sequence[str]) -> Generator[Callable[[int], None]]:
    """What to call with the number of bytes that were read."""
    total = sum(_size(name) for name in files)
    if not sys.stderr.isatty() or (len(files) == 1 and total < _LARGE):
        yield lambda _: None
        return
    # Rich costs 25 ms, and only a terminal has a use for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("import", total=total or None)
        yield lambda count: progress.advance(task, count)


@contextmanager
def stepped(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """What to call with the number of steps that were taken; a total that is not known is None."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    # Rich costs 25 ms, and only a terminal has a use for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except (OSError, ValueError):
        # Stdin, or a file whose opening will say what is wrong with it.
        return 0
