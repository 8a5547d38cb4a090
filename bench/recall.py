"""Measures the quality of recall on every open set with one configuration: tables with error bars, and a plot."""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import precision
from bench.error_bars import ErrorBar, error_bar
from bench.kept_vectors import KeptVectors, local_embedder
from bench.open_sets import SETS, load_sets, open_sets
from bench.plot import bars
from bench.sizes import is_small
from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.benchmark.bench import Provider, progress
from recollectum.doors.cli.benchmark.labelled_set import LabelledSet
from recollectum.doors.cli.benchmark.metrics import METRICS
from recollectum.doors.cli.benchmark.report import summary
from recollectum.doors.cli.benchmark.runner import QueryResult, run_set
from recollectum.models.embedding.port import Embedder
from tests.doors.cli.benchmark.labelled_sets import write_set

_COSTS = ("tokens", "CPU p50 ms", "CPU p95 ms")
_PLOTTED = ("R@5", "R@10", "session R@5", "hit@1", "nDCG@10")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench recall", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=f"sets; else those in {SETS.name}/")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--provider", type=Provider, default=Provider.AUTO, help="auto, none or local")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors of the local model in this file")
    parser.add_argument("--model", default="", help="a local model other than the default")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw a plot")
    asked = parser.parse_args(arguments)
    if asked.svg and not asked.svg.absolute().parent.is_dir():
        raise InvalidInput(f"{asked.svg} cannot be written; give a file in a folder that exists")
    with tempfile.TemporaryDirectory() as folder:
        folders: list[Path] = asked.folders or (
            [write_set(Path(folder) / "tiny")] if is_small() else [*open_sets(SETS), *precision.open_sets(SETS)]
        )
        if not folders:
            print(
                "there are no labelled sets beside this repository; name their folders: python -m bench recall FOLDER"
            )
            return
        judged = [one for one in folders if precision.is_set(one)]
        sets = load_sets([one for one in folders if one not in judged], asked.limit_queries)
        embedder = local_embedder(asked.vectors, asked.model) if asked.vectors or asked.model else None
        found = _report(sets, asked.provider, embedder) if sets else []
        for one in judged:
            print(f"\n{one.absolute().name}: what must and must not be found")
            precision.report(one, asked.provider.value, embedder)
    if isinstance(embedder, KeptVectors):
        embedder.close()
        print(f"\n{embedder.describe()}")
    if asked.svg:
        asked.svg.write_text(plot(found), encoding="utf-8")


def _report(
    sets: Sequence[LabelledSet], provider: Provider, embedder: Embedder | None
) -> list[tuple[str, dict[str, ErrorBar]]]:
    print(heading(), flush=True)
    found: list[tuple[str, dict[str, ErrorBar]]] = []
    for data in sets:
        settings = {"embedding.provider": provider.value}
        rows = run_set(data, settings, os.environ, progress(len(data.queries)), embedder)
        found.append((data.name, scores(rows)))
        print(line(data, rows), flush=True)
    print("\n±: half of the 95 % interval of a bootstrap over vaults, or over the questions of a set that is one vault")
    return found


def scores(rows: Sequence[QueryResult]) -> dict[str, ErrorBar]:
    """Return the mean of each metric that the questions of a set have, with its error bar."""
    return {
        name: error_bar((row.query.space, row.scores[name]) for row in rows if name in row.scores)
        for name in METRICS
        if any(name in row.scores for row in rows)
    }


def heading() -> str:
    """Return the first two lines of the Markdown table."""
    names = ("set", "vaults", "questions", *METRICS, *_COSTS)
    return f"| {' | '.join(names)} |\n|---|{'---:|' * (len(names) - 1)}"


def line(data: LabelledSet, rows: Sequence[QueryResult]) -> str:
    """Return one set as a line of the Markdown table."""
    found, means = summary(data, rows), scores(rows)
    vaults = len({row.query.space for row in rows})
    cells = [str(means[name]) if name in means else "–" for name in METRICS]
    return "| " + " | ".join([data.name, str(vaults), str(len(rows)), *cells, *(str(found[n]) for n in _COSTS)]) + " |"


def plot(found: Sequence[tuple[str, Mapping[str, ErrorBar]]]) -> str:
    """Return the main metrics of every set, as SVG."""
    groups = {name: {one: means[one] for one in _PLOTTED if one in means} for name, means in found}
    return bars("Recall on labelled sets, with 95 % intervals", groups, _PLOTTED)
