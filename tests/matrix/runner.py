"""Runs the matrix on whatever copy of the package is first on the path: `-m tests.matrix.runner WORLD SCRATCH`."""

import sys
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from tests.matrix.checks import CHECKS, THOROUGH
from tests.matrix.homes import copy_home
from tests.matrix.time_checks import TIME_CHECKS

#: What the program exits with when a rule is broken; an accident of its own exits with 1.
CAUGHT = 3

#: The quickest first: most mistakes are caught by one of those.
ALL = {**CHECKS, **TIME_CHECKS, **THOROUGH}


def first_finding(world: Path, scratch: Path) -> str | None:
    """The first broken rule, or None when every check passes."""
    for name, check in ALL.items():
        folder = copy_home(world, scratch / name.replace(" ", "_"))
        try:
            finding = next(check(folder), None)
        except RecollectumError as error:
            finding = f"it stopped with {type(error).__name__}: {error}"
        if finding:
            return f"{name}: {finding}"
    return None


if __name__ == "__main__":
    found = first_finding(Path(sys.argv[1]), Path(sys.argv[2]))
    print(found or "every check passes")
    sys.exit(CAUGHT if found else 0)
