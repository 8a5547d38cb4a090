"""Defines a row of the bar: the promise, its target, and the measurement."""

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
    """The numbers of a measurement, and whether they reach the target."""

    said: str
    met: bool


class Measure(Protocol):
    """Measures one row: a sample of it, or with `long` all of it."""

    def __call__(self, *, long: bool) -> Measured: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise, and how it is measured."""

    number: int
    promise: str
    target: str
    #: None when nothing can be measured yet.
    measure: Measure | None = None
    #: What the row waits for, if it cannot be measured.
    needs: str | None = None


@contextmanager
def own_place() -> Generator[Path]:
    """Yield a folder for one measurement, with separate settings and keys, and keyword recall by default."""
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        os.environ["RECOLLECTUM_EMBEDDING__PROVIDER"] = "none"
        os.environ.setdefault("PYTHONPATH", "")
        # The account of a test may need access.
        Path(folder).chmod(0o755)
        yield Path(folder)
