"""Measures what recall loses when one ingredient of the ranking is taken out, on every open set, with error bars.

Every question is asked of the product as it ships, and once more without each ingredient, in the same vault. The
differences are in points (hundredths). Their 95 % intervals are a bootstrap of the differences of each question over
vaults. Beside the labelled sets there are the dialogues that no model was trained with, and each of those is drawn like
a vault.
"""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.error_bars import ErrorBar, error_bar
from bench.ingredients_removed import INGREDIENTS, MutableEmbedder, without
from bench.kept_vectors import KeptVectors, local_embedder
from bench.open_sets import SETS, load_sets, open_sets
from bench.plot import ranges
from bench.ranking import conversation, kept_dialogues
from bench.sizes import is_small
from recollectum import Vault
from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.benchmark.bench import progress
from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery, LabelledSet
from recollectum.doors.cli.benchmark.runner import Feeder, QueryResult, ask_question, run_set
from tests.doors.cli.benchmark.labelled_sets import write_set

#: What is measured in turns of conversations, and in written texts.
METRICS = (("R@5", "hit@1"), ("R@10", "nDCG@10"))
_WHOLE = "nothing"

#: The results of a set by what was taken out.
Results = Mapping[str, Sequence[QueryResult]]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench ingredients", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=f"sets; else those in {SETS.name}/")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors in this file by digest")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw a plot of the first table")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="only the first N questions of each folder")
    parser.add_argument("--dialogues", choices=("also", "only", "no"), default="also", help="the kept dialogues")
    asked = parser.parse_args(arguments)
    if asked.svg and not asked.svg.absolute().parent.is_dir():
        raise InvalidInput(f"{asked.svg} cannot be written; give a file in a folder that exists")
    sets = _sets(asked.folders, asked.limit_queries, asked.dialogues)
    if not sets:
        print("there are no labelled sets beside this repository; name their folders")
        return
    embedder = local_embedder(asked.vectors)
    found = {data.name: measure(data, MutableEmbedder(embedder)) for data in sets}
    for metrics in METRICS:
        print(table(sets, found, metrics), flush=True)
    print("\n±: half of the 95 % interval of a bootstrap over vaults and dialogues, or over the questions of one vault")
    if isinstance(embedder, KeptVectors):
        embedder.close()
        print(embedder.describe())
    if asked.svg:
        asked.svg.write_text(plot(sets, found), encoding="utf-8")


def _sets(named: Sequence[Path], most: int | None, dialogues: str) -> list[LabelledSet]:
    if is_small() and not named:
        with tempfile.TemporaryDirectory() as folder:
            return load_sets([write_set(Path(folder) / "tiny")])
    sets = [] if dialogues == "only" else load_sets(named or open_sets(SETS), most)
    return sets if dialogues == "no" else [*sets, *kept_dialogues()]


def measure(data: LabelledSet, embedder: MutableEmbedder) -> dict[str, list[QueryResult]]:
    """Ask every question of a set as the product ships, and without each ingredient."""
    found: dict[str, list[QueryResult]] = {name: [] for name in INGREDIENTS}

    def ask(vault: Vault, feeder: Feeder, query: LabelledQuery) -> QueryResult:
        for name, rows in found.items():
            with without(name, embedder):
                rows.append(ask_question(vault, feeder, query))
        return ask_question(vault, feeder, query)

    settings = {"embedding.provider": "local"}
    whole = run_set(data, settings, os.environ, progress(len(data.queries)), embedder, ask)
    return {_WHOLE: whole, **found}


def table(sets: Sequence[LabelledSet], found: Mapping[str, Results], metrics: tuple[str, str]) -> str:
    """Return one Markdown table: the scores of the product, and the difference that each ingredient makes."""
    names = [f"{data.name}, {metric(data, metrics)}" for data in sets]
    lines = ["", f"| taken out | {' | '.join(names)} |", f"|---|{'---:|' * len(sets)}"]
    whole = [error_bar(_values(found[data.name][_WHOLE], metric(data, metrics))) for data in sets]
    lines.append(f"| {_WHOLE} | {' | '.join(map(str, whole))} |")
    for name in INGREDIENTS:
        cells = [in_points(difference(found[data.name], name, metric(data, metrics))) for data in sets]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def metric(data: LabelledSet, metrics: tuple[str, str]) -> str:
    """Return the metric of a set: turns are a part of what was said, a written text is the answer or is not."""
    return metrics[all(unit.speaker in ("doc", "log", None) for unit in data.units)]


def difference(found: Results, ingredient: str, name: str) -> ErrorBar:
    """Return what a metric changes by, with its interval, if the ingredient is taken out."""
    pairs = zip(found[_WHOLE], found[ingredient], strict=True)
    return error_bar(
        (conversation(one.query), other.scores[name] - one.scores[name]) for one, other in pairs if name in one.scores
    )


def in_points(change: ErrorBar) -> str:
    """Return a difference in points; bold if its interval does not include 0."""
    text = f"{100 * change.mean:+.1f} ±{100 * change.half:.1f}".replace("-", "−")
    return f"**{text}**" if change.low > 0 or change.high < 0 else text


def plot(sets: Sequence[LabelledSet], found: Mapping[str, Results]) -> str:
    """Return the differences of the first table as SVG, a panel for each set."""
    panels: dict[tuple[str, str], dict[str, ErrorBar]] = {}
    for data in sets:
        name = metric(data, METRICS[0])
        changes = {one: difference(found[data.name], one, name) for one in INGREDIENTS}
        panels[data.name, name] = {
            one: ErrorBar(100 * bar.mean, 100 * bar.low, 100 * bar.high) for one, bar in changes.items()
        }
    return ranges("Points that recall changes by when one ingredient is taken out", panels)


def _values(rows: Sequence[QueryResult], name: str) -> list[tuple[str, float]]:
    return [(conversation(row.query), row.scores[name]) for row in rows if name in row.scores]
