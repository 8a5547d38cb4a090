"""Finds the labelled sets beside the repository, and loads sets before any work begins."""

from collections.abc import Iterable
from pathlib import Path

from recollectum.doors.cli.benchmark.labelled_set import LabelledSet, load_set

#: Beside the repository: some sets may not be copied into it.
SETS = Path(__file__).parents[2] / "shared" / "bench"


def open_sets(folder: Path) -> list[Path]:
    """Return the folders that hold a set in our format."""
    return sorted(path.parent for path in folder.glob("*/queries.jsonl"))


def load_sets(folders: Iterable[Path], most: int | None = None) -> list[LabelledSet]:
    """Return all sets; the first folder without one is an error, before an hour was spent on the others."""
    return [load_set(folder, most) for folder in folders]
