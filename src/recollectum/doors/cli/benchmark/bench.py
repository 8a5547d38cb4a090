"""`recollectum bench`: measures recall on a labelled set, in a temporary home."""

import time
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, note
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import settings_of
from recollectum.home.files import write_atomic

app = new_group("Measure this installation in a temporary home; your own home is not touched.")

_EVERY_SECONDS = 10


class Provider(StrEnum):
    """The provider of the vectors."""

    AUTO = "auto"
    NONE = "none"
    LOCAL = "local"


@command(app, "recall")
def recall(
    run: Run,
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="A folder with units.jsonl (or .gz) and queries.jsonl.")
    ],
    *,
    rows: Annotated[str | None, typer.Option(metavar="FILE", help="Also write a JSON line per question.")] = None,
    limit_queries: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    provider: Annotated[
        Provider | None, typer.Option(help="The embedding provider; default: that of the settings.")
    ] = None,
) -> None:
    """Score recall on a labelled set: recall by turn and session, MRR, nDCG, tokens and CPU time."""
    # The engine takes 150 ms to import, which `--help` must not pay.
    from recollectum.doors.cli.benchmark.labelled_set import load_set  # noqa: PLC0415
    from recollectum.doors.cli.benchmark.report import describe_costs, row_lines, summary, table  # noqa: PLC0415
    from recollectum.doors.cli.benchmark.runner import run_set  # noqa: PLC0415

    data = load_set(Path(folder), limit_queries)
    file = _writable(rows) if rows is not None else None
    found = run_set(data, _embedding(run, provider), run.environ, progress(len(data.queries)))
    if file is not None:
        write_atomic(file, row_lines(found))
    document = summary(data, found)
    answer(run, document, [one_line(data.name), *map(visible, table(found)), describe_costs(document)])
    lacking = {row.degraded for row in found if row.degraded is not None}
    if lacking:
        note(f"degraded: {min(lacking)}")


def progress(queries: int) -> Callable[[str, int], None]:
    """Return a callback that reports progress on stderr every few seconds: chunks embedded and questions asked."""
    done = {"embedded": 0, "asked": 0}
    told = time.monotonic()

    def tell(what: str, count: int) -> None:
        nonlocal told
        done[what] += count
        if time.monotonic() - told >= _EVERY_SECONDS:
            told = time.monotonic()
            note(f"{done['embedded']} pieces embedded, {done['asked']} of {queries} questions asked")

    return tell


def _embedding(run: Run, provider: Provider | None) -> dict[str, object]:
    """Return the person's embedding settings, or the provider on the line with default settings."""
    if provider is not None:
        return {"embedding.provider": provider.value}
    every = settings_of(run).settings
    sections = {"embedding": every.embedding, "rerank": every.rerank}
    chosen = {f"{name}.{one.name}": getattr(part, one.name) for name, part in sections.items() for one in fields(part)}
    return {**chosen, "recall.rerank": every.recall.rerank, "recall.rerank_head": every.recall.rerank_head}


def _writable(name: str) -> Path:
    """Check that the file is writable before the work, which may take an hour."""
    path = Path(name).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"{name} cannot be written; give a file in a folder that exists")
    return path
