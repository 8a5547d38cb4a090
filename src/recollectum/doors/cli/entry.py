"""Starts the program: answers a plain `recollectum mcp` line before the rest of the command line is imported."""

import os
import sys
from collections.abc import Sequence

from recollectum.doors.mcp.stdio_main import parse_stdio_flags, serve_stdio
from recollectum.home.core_dumps import forbid_core_dumps


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; return the exit code."""
    if arguments is None:
        # This process is the program, and not one that calls it.
        forbid_core_dumps(os.environ)
    given = list(sys.argv[1:] if arguments is None else arguments)
    line = parse_stdio_flags(given)
    if line is not None:
        return serve_stdio(line)
    # Imported here: importing all commands takes longer than an agent waits for its tools.
    from recollectum.doors.cli.main import main as whole  # noqa: PLC0415

    return whole(given)
