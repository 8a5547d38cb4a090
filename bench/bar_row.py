"""A row of the bar: what is promised, how far it must reach, and what was measured."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.surroundings import own_surroundings


@dataclass(frozen=True, slots=True)
class Measured:
    """What a measurement found, in numbers, and whether that reaches the target."""

    said: str
    met: bool


class Measure(Protocol):
    """Measures one row: a sample of it, or with `long` all that the row asks for."""

    def __call__(self, *, long: bool) -> Measured: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise, and how it is held against the program."""

    number: int
    promise: str
    target: str
    #: None when there is nothing yet that could be measured.
    measure: Measure | None = None
    #: What the row waits for, when it cannot be measured.
    needs: str | None = None


@contextmanager
def own_place() -> Generator[Path]:
    """A folder for one measurement, with settings and keys of its own, and recall by words unless it asks for more."""
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        os.environ["RECOLLECTUM_EMBEDDING__PROVIDER"] = "none"
        os.environ.setdefault("PYTHONPATH", "")
        # The account of a test may have to reach it.
        Path(folder).chmod(0o755)
        yield Path(folder)
