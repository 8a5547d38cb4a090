"""Runs the matrix of the command line on whatever copy of the package is first on the path: `-m … WORLD SCRATCH`."""

import sys
from pathlib import Path

from tests.matrix.homes import copy_home
from tests.matrix.over_cli_checks import CLI_CHECKS
from tests.matrix.runner import CAUGHT


def first_finding(world: Path, scratch: Path) -> str | None:
    """The first broken rule, or None when every check passes."""
    for name, check in CLI_CHECKS.items():
        if finding := next(check(copy_home(world, scratch / name.replace(" ", "_"))), None):
            return f"{name}: {finding}"
    return None


if __name__ == "__main__":
    found = first_finding(Path(sys.argv[1]), Path(sys.argv[2]))
    print(found or "every check passes")
    sys.exit(CAUGHT if found else 0)
