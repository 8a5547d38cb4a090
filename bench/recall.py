"""Measures the quality of recall on every open set with one configuration: a table and a plot."""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.plot import bars
from bench.sizes import is_small
from recollectum.doors.cli.benchmark.bench import Provider, progress
from recollectum.doors.cli.benchmark.labelled_set import load_set
from recollectum.doors.cli.benchmark.metrics import METRICS
from recollectum.doors.cli.benchmark.report import summary
from recollectum.doors.cli.benchmark.runner import run_set
from tests.doors.cli.benchmark.labelled_sets import write_set

#: Beside the repository: some sets may not be copied into it.
SETS = Path(__file__).parents[2] / "shared" / "bench"
_COSTS = ("tokens", "CPU p50 ms", "CPU p95 ms")
_PLOTTED = ("R@5", "R@10", "session R@5", "hit@1", "nDCG@10")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench recall", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=f"sets; else those in {SETS.name}/")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--provider", type=Provider, default=Provider.AUTO, help="auto, none or local")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw a plot")
    asked = parser.parse_args(arguments)
    if is_small() and not asked.folders:
        with tempfile.TemporaryDirectory() as folder:
            _report([write_set(Path(folder) / "tiny")], asked.provider, asked.limit_queries, asked.svg)
        return
    folders: list[Path] = asked.folders or open_sets(SETS)
    if not folders:
        print("there are no labelled sets beside this repository; name their folders: python -m bench recall FOLDER")
        return
    _report(folders, asked.provider, asked.limit_queries, asked.svg)


def _report(folders: Sequence[Path], provider: Provider, most: int | None, svg: Path | None) -> None:
    settings = {"embedding.provider": provider.value}
    print(heading(), flush=True)
    found: list[Mapping[str, object]] = []
    for folder in folders:
        data = load_set(folder, most)
        found.append(summary(data, run_set(data, settings, os.environ, progress(len(data.queries)))))
        print(line(found[-1]), flush=True)
    if svg:
        svg.write_text(plot(found), encoding="utf-8")


def open_sets(folder: Path) -> list[Path]:
    """Return the folders that hold a set in our format."""
    return sorted(path.parent for path in folder.glob("*/queries.jsonl"))


def heading() -> str:
    """Return the first two lines of the Markdown table."""
    names = ("set", "n", *METRICS, *_COSTS)
    return f"| {' | '.join(names)} |\n|---|{'---:|' * (len(names) - 1)}"


def line(found: Mapping[str, object]) -> str:
    """Return one set as a line of the Markdown table."""
    scores = (_cell(found.get(name)) for name in METRICS)
    return (
        "| " + " | ".join([str(found["set"]), str(found["queries"]), *scores, *(str(found[n]) for n in _COSTS)]) + " |"
    )


def plot(found: Sequence[Mapping[str, object]]) -> str:
    """Return the main metrics of every set, as SVG."""
    groups = {str(one["set"]): {name: _number(one[name]) for name in _PLOTTED if name in one} for one in found}
    return bars("Recall on labelled sets", groups, _PLOTTED)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "–"


def _number(value: object) -> float:
    return float(str(value))
