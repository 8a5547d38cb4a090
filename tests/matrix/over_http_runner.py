"""Runs the matrix of the doors on whatever copy of the package is first on the path: `-m … WORLD SCRATCH [FIRST …]`."""

import sys
from pathlib import Path

from tests.matrix.homes import copy_home
from tests.matrix.over_console_checks import CONSOLE_CHECKS
from tests.matrix.over_http_checks import CHECKS
from tests.matrix.over_http_tricks import TRICKS
from tests.matrix.over_mcp_checks import MCP_CHECKS
from tests.matrix.runner import CAUGHT

#: The quickest first: most mistakes are caught by one of those.
ALL = {**TRICKS, **MCP_CHECKS, **CONSOLE_CHECKS, **CHECKS}


def first_finding(world: Path, scratch: Path, *first: str) -> str | None:
    """The first broken rule, or None when every check passes; those that are named are looked at before the rest."""
    for name, check in {**{name: ALL[name] for name in first}, **ALL}.items():
        folder = copy_home(world, scratch / name.replace(" ", "_"))
        try:
            finding = next(check(folder), None)
        except (KeyError, TypeError, ValueError) as error:
            # An answer that is not even of the form that the check reads.
            finding = f"it stopped with {type(error).__name__}: {error}"
        if finding:
            return f"{name}: {finding}"
    return None


if __name__ == "__main__":
    found = first_finding(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
    print(found or "every check passes")
    sys.exit(CAUGHT if found else 0)
