"""Sets the size of a benchmark: full, or small with BENCH_SIZE=small, so that CI runs every one of them."""

import os
from typing import TypeVar

T = TypeVar("T")
VARIABLE = "BENCH_SIZE"


def is_small() -> bool:
    """Return whether this run only shows that the benchmark works."""
    return os.environ.get(VARIABLE) == "small"


def sized(full: T, small: T) -> T:
    """Return the first in an ordinary run, the second in a small one."""
    return small if is_small() else full
