"""Measures whether the newest of changed facts comes first, on made sets of 6,000, 64,000 and 262,000 tokens."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.facts_set import QUESTIONS, write_facts
from bench.kept_vectors import local_embedder
from bench.sizes import sized
from recollectum.doors.cli.benchmark.bench import Provider, progress
from recollectum.doors.cli.benchmark.labelled_set import load_set
from recollectum.doors.cli.benchmark.metrics import means, percentile
from recollectum.doors.cli.benchmark.runner import QueryResult, run_set
from recollectum.models.embedding.port import Embedder

#: Tokens of all statements together.
SIZES = sized((6_000, 64_000, 262_000), (1_500,))
_SEED = 1


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench facts", description=__doc__)
    parser.add_argument("tokens", nargs="*", type=int, metavar="TOKENS", help=f"sizes; else {SIZES}")
    parser.add_argument("--seed", type=int, default=_SEED, help="another seed makes other facts")
    parser.add_argument("--provider", type=Provider, default=Provider.AUTO, help="auto, none or local")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors of the local model in this file")
    parser.add_argument("--model", default="", help="a local model other than the default")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="keep the sets in this folder")
    asked = parser.parse_args(arguments)
    embedder = local_embedder(asked.vectors, asked.model) if asked.vectors or asked.model else None
    print(heading(), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for tokens in asked.tokens or SIZES:
            folder = write_facts((asked.folder or Path(scratch)) / f"facts_{tokens}", tokens, asked.seed)
            print(line(tokens, measure(folder, asked.provider, embedder)), flush=True)
    if embedder is not None:
        embedder.close()


def measure(folder: Path, provider: Provider, embedder: Embedder | None = None) -> list[QueryResult]:
    """Return the result of every question of a set."""
    data = load_set(folder)
    settings = {"embedding.provider": provider.value}
    return run_set(data, settings, os.environ, progress(len(data.queries)), embedder)


def hits(found: Sequence[QueryResult]) -> dict[str, float]:
    """Return hit@1 of each category of questions."""
    return {
        name: means(row.scores for row in found if row.query.category == name).get("hit@1", 0.0) for name in QUESTIONS
    }


def heading() -> str:
    """Return the first two lines of the Markdown table."""
    names = ("tokens", "questions", *(f"{name} hit@1" for name in QUESTIONS), "CPU p50 ms")
    return f"| {' | '.join(names)} |\n|{'---:|' * len(names)}"


def line(tokens: int, found: Sequence[QueryResult]) -> str:
    """Return one set as a line of the table."""
    cells = [f"{tokens:,}", str(len(found)), *(f"{share:.3f}" for share in hits(found).values())]
    return f"| {' | '.join([*cells, f'{percentile([row.cpu_ms for row in found], 0.5):.1f}'])} |"
